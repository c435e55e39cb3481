/** Branches, loops, exceptions: what becomes of the steps and of the memory where paths part and join. */
import type { Loop, Value } from '../application.ts';
import { type Abstract, arrayOf, type Cell, plain, unknown } from './abstract-value.ts';
import { mergedChain } from './builders/chain.ts';
import type { AnyStep } from './emitter.ts';
import { type Completion, normalCompletion, type Machine } from './machine.ts';
import { does } from './tidy-steps.ts';
import { choose } from './value-arithmetic.ts';
import { allOf, isConstant, not } from './conditions.ts';

export function fork(
  machine: Machine,
  condition: Value,
  ifTrue: () => Completion,
  ifFalse: () => Completion,
): Completion {
  if (isConstant(condition, true)) return ifTrue();
  if (isConstant(condition, false)) return ifFalse();
  const { emitter } = machine;
  const step = { kind: 'branch' as const, condition, ifTrue: [] as AnyStep[], ifFalse: [] as AnyStep[] };
  emitter.nest(step);
  const before = emitter.mark();
  const side = (list: AnyStep[], holds: Value, body: () => Completion) => {
    emitter.reset({ ...before, list, path: [...before.path, holds] });
    const { result, writes } = machine.memory.during(body);
    return { ...result, writes, mark: emitter.mark() };
  };
  const a = side(step.ifTrue, condition, ifTrue);
  const b = side(step.ifFalse, not(condition), ifFalse);
  const isOver = ({ end }: Completion): boolean => end !== 'none';
  if (isOver(a) && isOver(b)) {
    emitter.reset(before);
    return { end: a.end === 'throw' ? b.end : a.end, ended: [] };
  }
  if (isOver(a) || isOver(b)) {
    const [over, rest, holds] = isOver(a) ? [a, b, condition] : [b, a, not(condition)];
    emitter.reset(rest.mark);
    apply(machine, rest.writes);
    const ended = over.end === 'return' || over.end === 'jump' ? [{ end: over.end, condition: holds }] : [];
    return { end: 'none', ended: [...ended, ...rest.ended] };
  }
  join(machine, condition, a.writes, b.writes);
  if (a.mark.open !== b.mark.open) {
    emitter.reset(a.mark.open === null ? b.mark : a.mark);
    emitter.notUnderstood(openPlace(a.mark.open ?? b.mark.open), 'the transaction ends on one path only');
  } else emitter.reset(a.mark);
  const ended = [
    ...a.ended.map((one) => ({ ...one, condition: allOf([condition, one.condition]) })),
    ...b.ended.map((one) => ({ ...one, condition: allOf([not(condition), one.condition]) })),
  ];
  emitter.continueAfter(before);
  emitter.unless(ended.map((one) => one.condition));
  return { end: 'none', ended };
}

function openPlace(open: { readonly step: { readonly place: { file: string; line: number } } } | null) {
  return open?.step.place ?? { file: '', line: 0 };
}

type Writes = ReadonlyMap<Cell<unknown>, unknown>;

function apply(machine: Machine, writes: Writes): void {
  for (const [cell, value] of writes) machine.memory.write(cell, value);
}

function join(machine: Machine, condition: Value, a: Writes, b: Writes): void {
  for (const cell of new Set([...a.keys(), ...b.keys()])) {
    const ifTrue = a.has(cell) ? a.get(cell) : cell.value;
    const ifFalse = b.has(cell) ? b.get(cell) : cell.value;
    machine.memory.write(cell, joined(condition, ifTrue, ifFalse));
  }
}

/** Elements of an array are a list, everything else an abstract value. */
function joined(condition: Value, ifTrue: unknown, ifFalse: unknown): unknown {
  if (!Array.isArray(ifTrue) || !Array.isArray(ifFalse)) {
    return choose(condition, ifTrue as Abstract, ifFalse as Abstract);
  }
  const [a, b] = [ifTrue as Abstract[], ifFalse as Abstract[]];
  if (a.length === b.length) return a.map((one, index) => choose(condition, one, b[index] as Abstract));
  const spread: Abstract = { kind: 'choice', condition, ifTrue: arrayOf(a), ifFalse: arrayOf(b), isSpread: true };
  return [spread];
}

/** Runs `body` for an element; what it changes is unknown in and behind it. */
export function loop(machine: Machine, name: string, over: Value, body: (element: Abstract) => Completion): Completion {
  const { emitter } = machine;
  const unique = emitter.name(name);
  const element: Abstract = plain({ kind: 'element', loop: unique, field: null });
  const trial = () => emitter.apart(() => machine.memory.during(() => body(element))).result;
  const first = trial();
  const merged = mergedBefore(first.writes);
  apply(machine, merged);
  const { result, writes } = merged.size === 0 ? first : trial();
  // A retry: every pass that goes well leaves the loop.
  const isRetry = result.end === 'return' || result.ended.some(({ condition }) => condition === noError);
  if (over.kind === 'unknown' && isRetry) return body(element);
  const forgotten = forgottenBy(writes);
  apply(machine, forgotten);
  const step: Loop<AnyStep> = { kind: 'loop', name: unique, over, steps: [] };
  emitter.nest(step);
  const before = emitter.mark();
  emitter.reset({ ...before, list: step.steps as AnyStep[] });
  const completion = body(element);
  emitter.continueAfter(before);
  apply(machine, forgotten);
  return completion.end === 'throw' ? normalCompletion : { end: 'none', ended: [] };
}

/** Statements that differ by path before a loop adds to them: one each, so that what the loop adds is found. */
function mergedBefore(writes: Writes): Writes {
  return new Map(
    [...writes.keys()].flatMap((cell): readonly (readonly [Cell<unknown>, unknown])[] => {
      const before = Array.isArray(cell.value) ? undefined : (cell.value as Abstract);
      const merged = before?.kind === 'choice' ? mergedChain(before) : before;
      return merged === before || merged?.kind === 'choice' ? [] : [[cell, merged]];
    }),
  );
}

/** What a loop leaves in the places that its passes write. */
function forgottenBy(writes: Writes): Writes {
  return new Map(
    [...writes].map(([cell, value]): readonly [Cell<unknown>, unknown] => {
      const forgotten = unknown('computed in a loop');
      if (Array.isArray(value)) return [cell, [forgotten]];
      return [cell, chainIn(mergedChain(value as Abstract), cell.value as Abstract) ?? forgotten];
    }),
  );
}

/** Clauses that a loop adds to a statement are not known, but it is one. */
function chainIn(value: Abstract, before: Abstract): Abstract | undefined {
  if (value.kind === 'choice') return chainIn(value.ifTrue, before) ?? chainIn(value.ifFalse, before);
  return value.kind === 'native' ? value.forgotten?.(before, 'the statement is built in a loop') : undefined;
}

/** A throw: into the innermost handler, else out of the unit. */
export function raise(machine: Machine): Completion {
  const { handlers, emitter } = machine;
  const handler = handlers.at(-1);
  if (handler === undefined) {
    if (emitter.open === null) emitter.push({ kind: 'return' });
    else emitter.end('abort');
    return { end: 'throw', ended: [] };
  }
  machine.handlers = handlers.slice(0, -1);
  const completion = handler();
  machine.handlers = handlers;
  return completion.end === 'none' ? { end: 'jump', ended: [] } : completion;
}

/** `try` with a handler. Where the body's own throws reach it, it runs there; errors of the database reach it under an unknown condition. */
export function guarded(machine: Machine, body: () => Completion, handler: (() => Completion) | null): Completion {
  if (handler === null) return body();
  const { emitter } = machine;
  const before = emitter.mark();
  const completion = runGuarded(machine, body, handler);
  const after = emitter.mark();
  emitter.reset({ ...after, path: before.path });
  const { result, steps } = emitter.apart(() => machine.memory.during(handler));
  if (steps.some(matters)) {
    const condition: Value = { kind: 'unknown', reason: 'whether the database reports an error' };
    const step = { kind: 'branch' as const, condition, ifTrue: [] as AnyStep[], ifFalse: [] };
    emitter.nest(step);
    const mark = emitter.mark();
    emitter.reset({ ...mark, list: step.ifTrue });
    machine.memory.during(handler);
    emitter.reset(mark);
  }
  const mark = emitter.mark();
  emitter.reset({ ...mark, path: after.path });
  const returned = completion.ended.filter(({ end }) => end === 'return');
  if (completion.end === 'none' && returned.length === completion.ended.length) return completion;
  if (completion.end === 'return' && result.result.end !== 'none') return completion;
  emitter.continueAfter(before);
  const ended = [...returned.map(({ condition }) => condition), ...(completion.end === 'return' ? [noError] : [])];
  emitter.unless(ended);
  return {
    end: completion.end === 'throw' ? 'throw' : 'none',
    ended: ended.map((condition) => ({ end: 'return', condition })),
  };
}

interface Caught {
  readonly condition: Value;
  /** What the path wrote, to where its handler ended. */
  readonly writes: Writes;
}

/** Behind it, variables have what the paths gave them on which the handler ran, and what the others did. */
function runGuarded(machine: Machine, body: () => Completion, handler: () => Completion): Completion {
  const { emitter, memory } = machine;
  const { path } = emitter;
  const { depth } = memory;
  const caught: Caught[] = [];
  const outer = machine.handlers;
  machine.handlers = [
    ...outer,
    () => {
      const completion = handler();
      if (completion.end === 'none')
        caught.push({ condition: allOf(emitter.path.slice(path.length)), writes: memory.writtenSince(depth) });
      return completion;
    },
  ];
  const { result: completion, writes } = memory.during(body);
  machine.handlers = outer;
  const paths = completion.end === 'none' ? caught : [];
  for (const cell of new Set([writes, ...paths.map((one) => one.writes)].flatMap((one) => [...one.keys()]))) {
    const on = (one: Writes): unknown => (one.has(cell) ? one.get(cell) : cell.value);
    const value = paths.reduce((rest, one) => joined(one.condition, on(one.writes), rest), on(writes));
    memory.write(cell, value);
  }
  return completion;
}

function matters(step: AnyStep): boolean {
  if (step.kind === 'branch') return [...step.ifTrue, ...step.ifFalse].some(matters);
  return step.kind === 'rollback-to-savepoint' || does(step);
}

const noError: Value = { kind: 'unknown', reason: 'no error' };
