/** Protocols that are put together wrongly: each would have been searched without the part that is wrong, or have ended as a failure of moirai. */
import { describe, expect, test } from 'vitest';
import { gapText } from '../evidence/index.ts';
import { checkProtocol, message, namedSet, observe, processes, type Protocol, range, shared } from './index.ts';

const C = namedSet('c', 2);

interface Self {
  readonly id: number;
  at: string;
  n: number;
  nope?: number;
}

const step = (take: (self: Self) => unknown = () => {}): object => ({
  do: (self: Self) => {
    const returned = take(self);
    self.at = 'Done';
    return returned;
  },
});
const right = { start: 'GO', variables: { n: range(0, 1) }, steps: { GO: step() } };

function wrong(define: () => object): Protocol {
  return { name: 'p', parameters: {}, define: define as Protocol['define'] };
}

/** One set of processes with this instead of what is right, beside these parts. */
function withParts(changes: object, parts: object = {}): () => object {
  return () => ({ processes: [processes(C, { ...right, ...changes } as never)], ...parts });
}

const stepping = (given: object): (() => object) => withParts({ steps: { GO: given } });

function observing(changes: object): () => object {
  return () => {
    const of = processes(C, right as never);
    const all = { of, from: ['at'], initial: {}, operations: () => null, ...changes };
    return { processes: [of], observe: observe(all as never) };
  };
}

test('what is right is satisfied', () => {
  expect(checkProtocol(wrong(withParts({}))).verdict).toBe('satisfied');
});

describe('is refused', () => {
  const all = 'should be an array, each of it';
  test.each<[string, () => object, string, string]>([
    ['a set that is none', () => ({ processes: [processes(undefined as never, right as never)] }), 'shape', all],
    ['processes that are a set', () => ({ processes: [C] }), 'shape', all],
    ['no label', withParts({ steps: undefined }), 'label', 'processes c start at GO; labels: '],
    ['a step without do', stepping({}), 'shape', 'p: a step at label GO of c should be { do: (self) => ... }'],
    ['a step that is a function', withParts({ steps: { GO: () => {} } }), 'shape', 'a step at label GO of c'],
    ['no step', withParts({ steps: { GO: null } }), 'shape', 'a step at label GO of c'],
    ['a condition that is a value', stepping({ ...step(), await: true }), 'shape', 'await of a step at label GO of c'],
    ['a choice from no set', stepping({ ...step(), from: 'c' }), 'shape', 'from of a step at label GO of c'],
    ['a choice of no members', stepping({ ...step(), from: C, choose: () => 'x' }), 'choose', 'choose returned x'],
    ['a choice of too many', stepping({ ...step(), from: C, choose: () => 4 }), 'choose', 'choose returned 4'],
    ['an invariant that is a value', withParts({}, { invariants: { a: true } }), 'shape', '"a" of invariants'],
    ['a condition without return', withParts({}, { eventually: { a: () => {} } }), 'condition', 'is a return missing?'],
    ['symmetry of a name', withParts({}, { symmetry: ['c'] }), 'shape', 'symmetry should be an array'],
    [
      'messages without their list',
      withParts({}, { messages: message('m', C) }),
      'shape',
      'messages should be an array',
    ],
    [
      'a shared among messages',
      withParts({}, { messages: [shared('s', { n: range(0, 1) })] }),
      'shape',
      'messages should',
    ],
    ['a label to rest at', withParts({ mayRestAt: ['XX'] }), 'shape', 'processes c have no label XX'],
    ['a variable called id', withParts({ variables: { id: range(0, 1) } }), 'shape', 'cannot be called id'],
    ['what observe is of', observing({ of: undefined }), 'shape', 'of in observe should be one of its processes'],
    ['what observe names', observing({ from: undefined }), 'shape', 'from in observe should be an array'],
    ['what observe begins with', observing({ initial: undefined }), 'shape', 'initial in observe should be an object'],
    ['a step that is asynchronous', stepping(step(async () => {})), 'async', 'it is asynchronous; a step is atomic'],
    [
      'a step that throws no error',
      stepping(
        step(() => {
          throw 'x';
        }),
      ),
      'throws',
      'p: c1 at GO, step GO throws x',
    ],
  ])('%s', (_name, define, code, text) => {
    expect(() => checkProtocol(wrong(define))).toThrow(
      expect.objectContaining({ code: `protocol/${code}`, message: expect.stringContaining(text) }),
    );
  });
});

describe('what would be outside of the state is refused', () => {
  const store = (): { readonly now: { n: number } } => shared('store', { n: range(0, 1) });
  const others = (): { readonly all: readonly Self[] } => processes(namedSet('q', 1), right as never) as never;
  test.each<[string, () => () => object, string, string]>([
    [
      'an assignment to a variable that is spelled wrong',
      () => stepping(step((self) => (self.nope = 1))),
      'variable',
      'p: c1 at GO, step GO: c has no variable nope; variables: at, n',
    ],
    [
      'a read of one',
      () => stepping({ ...step(), await: ({ nope }: Self) => nope === undefined }),
      'variable',
      'c has no variable nope',
    ],
    [
      'the name of a process',
      () => stepping(step((self) => ((self as { id: number }).id = 1))),
      'mutates',
      'read only',
    ],
    [
      'an assignment to what is shared and not listed',
      () => {
        const { now } = store();
        return stepping(step(() => (now.n = 1)));
      },
      'undeclared',
      'shared store is not among the shared that define returns',
    ],
    [
      'a read of it',
      () => {
        const { now } = store();
        return stepping({ ...step(), await: () => now.n === 0 });
      },
      'undeclared',
      'shared store is not among the shared that define returns',
    ],
    [
      'an invariant on processes that are not listed',
      () => {
        const { all } = others();
        return withParts({}, { invariants: { 'all are there': () => all.every(({ at }) => at === 'GO') } });
      },
      'undeclared',
      'processes q is not among the processes that define returns',
    ],
  ])('%s', (_name, define, code, text) => {
    expect(() => checkProtocol(wrong(define()))).toThrow(
      expect.objectContaining({ code: `protocol/${code}`, message: expect.stringContaining(text) }),
    );
  });

  test('processes that are made once, for a define that runs more than once', () => {
    const made = processes(C, right as never);
    const once = wrong(() => ({ processes: [made] }));
    expect(checkProtocol(once).verdict).toBe('satisfied');
    expect(() => checkProtocol(once)).toThrow('processes c should be made inside of define, which runs more than once');
  });
});

test('a protocol that takes no step proves nothing', () => {
  const { conclusion } = checkProtocol(wrong(() => ({ processes: [] })));
  expect(conclusion.kind === 'unknown' ? conclusion.gaps.map(gapText) : []).toEqual(['no step was ever taken']);
});
