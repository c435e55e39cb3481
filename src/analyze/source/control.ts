/** Branches, loops, exceptions: what becomes of the steps and of the memory where paths part and join. */
import type { Loop, Statement, UnknownValue, Value } from '../application.ts';
import { fails } from '../compute-value.ts';
import { type Abstract, arrayOf, type Cell, plain, unknown, findInEnds } from './abstract-value.ts';
import { mergedChain } from './builders/chain.ts';
import type { AnyStep } from './emitter.ts';
import { type Completion, normalCompletion, type Machine } from './machine.ts';
import { does } from './tidy-steps.ts';
import { choose, valueOf } from './value-arithmetic.ts';
import { allOf, computedFrom, expression, isConstant, not } from './conditions.ts';

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
export function joined(condition: Value, ifTrue: unknown, ifFalse: unknown): unknown {
  if (!Array.isArray(ifTrue) || !Array.isArray(ifFalse)) {
    return choose(condition, ifTrue as Abstract, ifFalse as Abstract);
  }
  const [a, b] = [ifTrue as Abstract[], ifFalse as Abstract[]];
  if (a.length === b.length) return a.map((one, index) => choose(condition, one, b[index] as Abstract));
  const spread: Abstract = { kind: 'choice', condition, ifTrue: arrayOf(a), ifFalse: arrayOf(b), isSpread: true };
  return [spread];
}

/** Runs `body` for an element; what it changes is unknown in and behind it. */
export function loop(
  machine: Machine,
  name: string,
  over: Value | (() => Value),
  body: (element: Abstract) => Completion,
): Completion {
  const { emitter } = machine;
  const unique = emitter.name(name);
  const element: Abstract = plain({ kind: 'element', loop: unique, field: null });
  const trial = () => emitter.apart(() => machine.memory.during(() => body(element)));
  const first = trial();
  const merged = mergedBefore(first.result.writes);
  apply(machine, merged);
  const { steps, result: tried } = merged.size === 0 ? first : trial();
  const { result, writes } = tried;
  const overNow = (): Value => (typeof over === 'function' ? over() : over);
  // A retry: every pass that goes well leaves the loop.
  const isRetry = result.end === 'return' || result.ended.some(({ condition }) => condition === noError);
  if ((typeof over === 'function' || over.kind === 'unknown') && isRetry) return body(element);
  const forgotten = forgottenBy(writes, (values) =>
    steps.some(does) ? unknown(inLoop) : plain(withoutElement(computedFrom(inLoop, [overNow(), ...values]), unique)),
  );
  apply(machine, forgotten);
  const step: Loop<AnyStep> = { kind: 'loop', name: unique, over: overNow(), steps: [] };
  emitter.nest(step);
  const before = emitter.mark();
  emitter.reset({ ...before, list: step.steps as AnyStep[] });
  emitter.repeats++;
  const { result: completion, thrown } = emitter.thrownBy(machine.handlers.length, () => body(element));
  emitter.repeats--;
  emitter.continueAfter(before);
  apply(machine, forgotten);
  const returns = completion.ended.filter(({ end }) => end === 'return').map(({ condition }) => condition);
  const isEnded = completion.end === 'return' || returns.length > 0;
  if (!isEnded && thrown.length === 0) return normalCompletion;
  const ended = withoutElement(computedFrom('whether the loop ended it', [step.over, ...returns, ...thrown]), unique);
  emitter.unless([ended]);
  return { end: 'none', ended: isEnded ? [{ end: 'return', condition: ended }] : [] };
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

const inLoop = 'computed in a loop';

/** What a loop leaves in the places that its passes write. @param computed from values of before and of one pass */
function forgottenBy(writes: Writes, computed: (values: readonly Value[]) => Abstract): Writes {
  return new Map(
    [...writes].map(([cell, value]): readonly [Cell<unknown>, unknown] => {
      // Elements of an array are a list, everything else an abstract value.
      const [before, after] = [cell.value, value].map((one) =>
        Array.isArray(one) ? arrayOf(one as Abstract[]) : one,
      ) as [Abstract, Abstract];
      const forgotten = computed([valueOf(before), valueOf(after)]);
      // Functions that wait in a list are called later: for (const job of jobs) await job().
      if (Array.isArray(value))
        return [cell, [forgotten, ...(value as Abstract[]).filter(({ kind }) => kind === 'function')]];
      return [cell, chainIn(mergedChain(after), before) ?? forgotten];
    }),
  );
}

/** What is computed from the element of a loop is computed from what the loop is over, which is named beside it. */
function withoutElement(value: UnknownValue, loopName: string): UnknownValue {
  const from = value.from?.filter((one) => one.kind !== 'element' || one.loop !== loopName);
  return from === undefined ? value : { ...value, from };
}

/** Clauses that a loop adds to a statement are not known, but it is one. */
function chainIn(value: Abstract, before: Abstract): Abstract | undefined {
  return findInEnds(value, (end) =>
    end.kind === 'native' ? end.forgotten?.(before, 'the statement is built in a loop') : undefined,
  );
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
  emitter.throwInto(handlers.length);
  machine.handlers = handlers.slice(0, -1);
  const completion = handler();
  machine.handlers = handlers;
  return completion.end === 'none' ? { end: 'jump', ended: [] } : completion;
}

/**
 * `try` with a handler. Where the body's own throws reach it, it runs there. An error of the database may also come from any statement of the body: then that one
 * and those behind it have not happened.
 */
export function guarded(machine: Machine, body: () => Completion, handler: (() => Completion) | null): Completion {
  if (handler === null) return body();
  const { emitter } = machine;
  const before = emitter.mark();
  const { result, statements } = emitter.statementsOf(() => runGuarded(machine, body, handler));
  const { completion, isCaught } = result;
  const after = emitter.mark();
  emitter.reset({ ...after, path: before.path });
  const handled = runOnError(machine, statements, handler);
  const mark = emitter.mark();
  emitter.reset({ ...mark, path: after.path });
  const returned = completion.ended.filter(({ end }) => end === 'return');
  if (completion.end === 'none' && !isCaught && returned.length === completion.ended.length) return completion;
  if (completion.end === 'return' && handled.end !== 'none') return completion;
  emitter.continueAfter(before);
  const ended = [...returned.map(({ condition }) => condition), ...(completion.end === 'return' ? [noError] : [])];
  emitter.unless(ended);
  return {
    end: completion.end === 'throw' ? 'throw' : 'none',
    ended: ended.map((condition) => ({ end: 'return', condition })),
  };
}

/** Runs the handler for an error of one of the statements, beside what they did. */
function runOnError(machine: Machine, statements: readonly Statement[], handler: () => Completion): Completion {
  const { emitter, memory } = machine;
  const condition = failure(statements);
  const trial = emitter.apart(() => memory.during(handler));
  let { result: ran } = trial;
  if (trial.steps.some(matters)) {
    const step = { kind: 'branch' as const, condition, ifTrue: [] as AnyStep[], ifFalse: [] };
    emitter.nest(step);
    const mark = emitter.mark();
    emitter.reset({ ...mark, list: step.ifTrue, path: [...mark.path, condition] });
    ran = memory.during(handler);
    emitter.reset(mark);
  }
  if (ran.result.end === 'none' && isFailure(condition)) join(machine, condition, ran.writes, new Map());
  return ran.result;
}

/** That one of the statements failed because of the rows that it found: a SELECT does not. */
function failure(statements: readonly Statement[]): Value {
  const failing = statements.filter(
    ({ sql, result }) => result !== null && !/^\s*(?:select|with|values|show)\b/i.test(sql),
  );
  if (failing.length === 0) return { kind: 'unknown', reason: 'whether the database reports an error', from: [] };
  return expression(fails, ...failing.map(({ result }): Value => ({ kind: 'row-count', statement: result ?? '' })));
}

function isFailure(condition: Value): boolean {
  return condition.kind === 'expression';
}

interface Caught {
  readonly condition: Value;
  /** What the path wrote, to where its handler ended. */
  readonly writes: Writes;
}

interface Guarded {
  readonly completion: Completion;
  /** Did a path of it reach the handler? */
  readonly isCaught: boolean;
}

/** Behind it, variables have what the paths gave them on which the handler ran, and what the others did. */
function runGuarded(machine: Machine, body: () => Completion, handler: () => Completion): Guarded {
  const { emitter, memory } = machine;
  const { path } = emitter;
  const { depth } = memory;
  const { frames } = machine;
  const caught: Caught[] = [];
  const returned: Value[] = [];
  const outer = machine.handlers;
  machine.handlers = [
    ...outer,
    () => {
      const inner = machine.frames;
      machine.frames = frames;
      const completion = handler();
      machine.frames = inner;
      const condition = allOf(emitter.path.slice(path.length));
      if (completion.end === 'none') caught.push({ condition, writes: memory.writtenSince(depth) });
      if (completion.end !== 'return' || inner === frames) return completion;
      // It ends this function, not the one that threw.
      returned.push(condition);
      return { end: 'jump', ended: [] };
    },
  ];
  const { result, writes } = memory.during(body);
  machine.handlers = outer;
  const completion = behindHandlers(result, caught.length > 0, returned);
  const paths = completion.end === 'none' ? caught : [];
  for (const cell of new Set([writes, ...paths.map((one) => one.writes)].flatMap((one) => [...one.keys()]))) {
    const on = (one: Writes): unknown => (one.has(cell) ? one.get(cell) : cell.value);
    const value = paths.reduce((rest, one) => joined(one.condition, on(one.writes), rest), on(writes));
    memory.write(cell, value);
  }
  return { completion, isCaught: caught.length + returned.length > 0 };
}

/** How a body ends of which functions that it called threw to its handler. */
function behindHandlers(body: Completion, isHandled: boolean, returned: readonly Value[]): Completion {
  const ended = returned.map((condition) => ({ end: 'return' as const, condition }));
  if (body.end !== 'throw') return { ...body, ended: [...body.ended, ...ended] };
  return isHandled ? { end: 'none', ended } : returned.length > 0 ? { end: 'return', ended } : body;
}

function matters(step: AnyStep): boolean {
  if (step.kind === 'branch') return [...step.ifTrue, ...step.ifFalse].some(matters);
  return step.kind === 'rollback-to-savepoint' || does(step);
}

const noError: Value = { kind: 'unknown', reason: 'no error' };
