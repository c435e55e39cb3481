/** postgres.js: tagged templates whose holes are parameters, `sql.begin`, fragments from `sql(...)`. */
import type ts from 'typescript';
import {
  type Abstract,
  arrayOf,
  type Choice,
  constant,
  native,
  type Native,
  never,
  objectOf,
  plain,
  undefinedValue,
  unknown,
  endsOf,
} from '../abstract-value.ts';
import type { Connection } from '../emitter.ts';
import type { Value } from '../../application.ts';
import { expression, isTrue, same } from '../conditions.ts';
import { type Driver, type Machine, normalCompletion, type Owner } from '../machine.ts';
import { levelIn } from '../level.ts';
import { inSavepoint } from '../transactions.ts';
import { choose, constantOf, valueOf } from '../value-arithmetic.ts';

export const postgres: Driver = {
  modules: /^(?:postgres|bun)$/,
  call: (machine, { path }) =>
    /^(?:default|SQL|postgres)$/.test(path.at(-1) ?? 'default') ? sqlOf(machine, null) : undefined,
  construct: (machine, { path }) => (path.at(-1) === 'SQL' ? sqlOf(machine, null) : undefined),
  ofType: (machine, { path }) =>
    /^(?:TransactionSql|ReservedSql)$/.test(path.at(-1) ?? '')
      ? sqlOf(machine, {})
      : path.at(-1) === 'Sql'
        ? sqlOf(machine, null)
        : undefined,
};

/** A query that was not awaited yet: in another template it is a fragment. */
interface Pieces {
  readonly texts: readonly string[];
  readonly holes: readonly Abstract[];
}

const fragments = new WeakMap<Abstract, Pieces>();
/** Where the pieces are a template. */
const templates = new WeakMap<Pieces, ts.Node>();
/** Of an object: behind SET it is a list of assignments. */
const assignments = new WeakMap<Abstract, Pieces>();

/** Of a list of names: behind SELECT and RETURNING they are columns, behind IN values. */
const columnLists = new WeakMap<Abstract, Pieces>();

function takesColumns(text: string): boolean {
  return /\b(?:select|returning)\s+(?:distinct\s+)?(?:[^()]*,\s*)?$/i.test(text);
}

export function sqlOf(machine: Machine, owner: Owner): Native {
  return {
    kind: 'native',
    title: 'sql of postgres.js',
    isHandle: true,
    tag: (texts, holes, at) => query(machine, owner, { texts, holes }, at),
    call: (args) => helper(args),
    member: (name) => memberOf(machine, owner, name),
  };
}

function memberOf(machine: Machine, owner: Owner, name: string): Abstract {
  switch (name) {
    case 'begin':
    case 'transaction':
      return native(name, (args, at) => begin(machine, args, at));
    case 'savepoint':
      return native(name, (args, at) => savepoint(machine, owner, args, at));
    case 'unsafe':
      return native(name, ([text, values], at) =>
        machine.statement(owner, { text: text ?? undefinedValue, parameters: values ?? arrayOf([]), at }),
      );
    case 'reserve':
      return native(name, () => sqlOf(machine, {}));
    case 'json':
    case 'array':
    case 'typed':
      return native(name, ([value]) => value ?? undefinedValue);
    default:
      return native(name, () => undefinedValue);
  }
}

function begin(machine: Machine, args: readonly Abstract[], at: ts.Node): Abstract {
  const options = constantOf(args.length > 1 ? args[0] : undefined);
  const connection: Connection = {};
  const fn = args.at(-1) ?? undefinedValue;
  return machine.inTransaction(connection, levelIn(String(options ?? '')), at, () =>
    machine.settle(machine.call(fn, [sqlOf(machine, connection)], at), at),
  );
}

/** `sql.savepoint([name], fn)` */
function savepoint(machine: Machine, owner: Owner, args: readonly Abstract[], at: ts.Node): Abstract {
  const name = constantOf(args[0]);
  const fn = args.at(-1) ?? undefinedValue;
  if (owner === null) return machine.call(fn, [sqlOf(machine, owner)], at);
  return inSavepoint(machine, owner, typeof name === 'string' ? name : 'savepoint', at, () =>
    machine.call(fn, [sqlOf(machine, owner)], at),
  );
}

function query(machine: Machine, owner: Owner, pieces: Pieces, at: ts.Node): Native {
  let result: Abstract | undefined;
  const run = (): Abstract => {
    const few = choicesIn(pieces) > conditionsMax ? withDecisions(pieces) : pieces;
    return (result ??= runPieces(machine, owner, few, at, conditionsMax));
  };
  const promise: Native = {
    kind: 'native',
    title: 'a query of postgres.js',
    isHandle: false,
    settle: run,
    member: (name) =>
      /^(?:execute|simple|describe|values|raw|readable|forEach|cursor)$/.test(name)
        ? native(name, () => promise)
        : machine.member(run(), name, at),
  };
  fragments.set(promise, pieces);
  templates.set(pieces, at);
  return promise;
}

/** Of fragments, each doubles the statements. */
const conditionsMax = 6;

/** The statement; where a fragment depends on a condition, one for each path. @param depth Conditions that may be followed. */
function runPieces(machine: Machine, owner: Owner, pieces: Pieces, at: ts.Node, depth: number): Abstract {
  const choice = choiceIn(pieces);
  if (choice !== undefined && depth > 0) {
    let [a, b]: [Abstract, Abstract] = [never, never];
    const side = (holds: boolean): Abstract =>
      runPieces(machine, owner, assumed(pieces, choice.condition, holds), at, depth - 1);
    machine.fork(
      choice.condition,
      () => ((a = side(true)), normalCompletion),
      () => ((b = side(false)), normalCompletion),
    );
    return choose(choice.condition, a, b);
  }
  const { text, parameters, parts } = flat(pieces);
  machine.reached.withoutStep(parts);
  if (choice === undefined) return machine.statement(owner, { text, parameters, at });
  machine.notUnderstood(at, 'the SQL text depends on too many conditions');
  return unknown('a result of SQL that is not understood');
}

/** A hole of which a side is a fragment, here or in a fragment. */
function choiceIn({ holes }: Pieces): Choice | undefined {
  for (const hole of holes) {
    if (hole.kind === 'choice' && hasFragment(hole)) return hole;
    const inner = fragments.get(hole);
    const found = inner === undefined ? undefined : choiceIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function choicesIn({ holes }: Pieces): number {
  return holes.reduce((count, hole) => {
    const inner = fragments.get(hole);
    return count + (inner === undefined ? Number(hole.kind === 'choice' && hasFragment(hole)) : choicesIn(inner));
  }, 0);
}

/** Of many optional conditions, `${name ? sql`AND name = ${name}` : sql``}`, all are in the text, each with the value that decides. */
function withDecisions(pieces: Pieces): Pieces {
  const holes = pieces.holes.map((hole) => {
    const inner = hole.kind === 'choice' ? decided(hole) : withDecisionsIn(fragments.get(hole));
    return inner === undefined ? hole : fragmentOf(inner);
  });
  return withTemplateOf(pieces, { texts: pieces.texts, holes });
}

function withDecisionsIn(pieces: Pieces | undefined): Pieces | undefined {
  return pieces === undefined || choicesIn(pieces) === 0 ? undefined : withDecisions(pieces);
}

function decided({ condition, ifTrue, ifFalse }: Choice): Pieces | undefined {
  const decides = plain(expression('and', condition, isTrue));
  const [test, other] = [addedCondition(ifTrue), addedCondition(ifFalse)];
  if (test !== undefined && isEmpty(ifFalse))
    return { texts: ['AND ((', ' AND (', ')) OR NOT ', ')'], holes: [decides, fragmentOf(test), decides] };
  if (other !== undefined && isEmpty(ifTrue))
    return { texts: ['AND ((NOT ', ' AND (', ')) OR ', ')'], holes: [decides, fragmentOf(other), decides] };
  return undefined;
}

/** What stands behind AND, where it is all of the fragment. */
function addedCondition(side: Abstract): Pieces | undefined {
  const pieces = fragments.get(side);
  const [first = '', ...rest] = pieces?.texts ?? [];
  if (pieces === undefined || !/^\s*and\b/i.test(first) || [first, ...rest].some((text) => /\bor\b/i.test(text)))
    return undefined;
  return withTemplateOf(pieces, { texts: [first.replace(/^\s*and\b/i, ''), ...rest], holes: pieces.holes });
}

function isEmpty(side: Abstract): boolean {
  const pieces = fragments.get(side);
  return (
    side.kind === 'undefined' ||
    (pieces !== undefined && pieces.texts.join('').trim() === '' && pieces.holes.length === 0)
  );
}

function fragmentOf(pieces: Pieces): Abstract {
  const mark: Abstract = objectOf({});
  fragments.set(mark, pieces);
  return mark;
}

function withTemplateOf(before: Pieces, pieces: Pieces): Pieces {
  const template = templates.get(before);
  if (template !== undefined) templates.set(pieces, template);
  return pieces;
}

function hasFragment(value: Abstract): boolean {
  return [...endsOf(value)].some((end) => fragments.has(end));
}

/** The pieces where the condition is known. */
function assumed(pieces: Pieces, condition: Value, holds: boolean): Pieces {
  const known: Pieces = {
    texts: pieces.texts,
    holes: pieces.holes.map((hole) => {
      if (hole.kind === 'choice' && same(hole.condition, condition)) {
        const side = holds ? hole.ifTrue : hole.ifFalse;
        return side.kind === 'undefined' ? nothing : side;
      }
      const inner = fragments.get(hole);
      if (inner === undefined || choiceIn(inner) === undefined) return hole;
      return fragmentOf(assumed(inner, condition, holds));
    }),
  };
  return withTemplateOf(pieces, known);
}

const nothing: Abstract = objectOf({});
fragments.set(nothing, { texts: [''], holes: [] });

/** The text with `$1`, `$2`, ... and the parameters; fragments are part of the text. */
function flat({ texts, holes }: Pieces): {
  readonly text: Abstract;
  readonly parameters: readonly Abstract[];
  readonly parts: readonly ts.Node[];
} {
  const parameters: Abstract[] = [];
  const parts: ts.Node[] = [];
  const write = (pieces: Pieces): string =>
    pieces.texts
      .map((text, index) => {
        const hole = pieces.holes[index];
        if (hole === undefined) return text;
        const fragment =
          (/\bset\s*$/i.test(text) ? assignments.get(hole) : undefined) ??
          (takesColumns(text) ? columnLists.get(hole) : undefined) ??
          fragments.get(hole);
        if (fragment !== undefined) {
          const template = templates.get(fragment);
          if (template !== undefined) parts.push(template);
          return text + write(fragment);
        }
        parameters.push(hole);
        return `${text}$${parameters.length}`;
      })
      .join('');
  return { text: constant(write({ texts, holes })), parameters, parts };
}

/** `sql('name')`, `sql(['a', 'b'])`, `sql(object, 'a', 'b')`: names, lists, the columns and values of INSERT. */
function helper([first, ...rest]: readonly Abstract[]): Abstract {
  const mark: Abstract = objectOf({});
  const columns = rest
    .flatMap((name) => (name.kind === 'array' ? name.elements.value : [name]))
    .map((name) => String(constantOf(name)));
  const text = constantOf(first);
  if (typeof text === 'string') fragments.set(mark, { texts: [`"${text}"`], holes: [] });
  else if (first?.kind === 'array') {
    const { value: elements } = first.elements;
    fragments.set(mark, list(elements));
    const names = elements.map(constantOf);
    if (names.every((name) => typeof name === 'string'))
      columnLists.set(mark, { texts: [names.map((name) => `"${name.replaceAll('.', '"."')}"`).join(', ')], holes: [] });
  } else if (first?.kind === 'object') {
    const listed = columns.length > 0 ? columns : [...first.properties.keys()];
    const values = listed.map((name) => first.properties.get(name)?.value ?? undefinedValue);
    const names = listed.map((name, index) => `${index === 0 ? '' : ', '}"${name}" = `);
    assignments.set(mark, { texts: [...names, ''], holes: values });
    const head = `(${listed.map((name) => `"${name}"`).join(', ')}) VALUES `;
    const { texts, holes } = list(values);
    fragments.set(mark, { texts: [head + (texts[0] ?? ''), ...texts.slice(1)], holes });
  } else if (first !== undefined) fragments.set(mark, { texts: ['(', ')'], holes: [plain(valueOf(first))] });
  return mark;
}

function list(values: readonly Abstract[]): Pieces {
  return { texts: [...values.map((_, index) => (index === 0 ? '(' : ', ')), ')'], holes: values };
}
