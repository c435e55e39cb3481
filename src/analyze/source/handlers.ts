/** Handlers of a route and the middleware before them: one unit, in which each function decides whether the next one runs. */
import type ts from 'typescript';
import {
  type Abstract,
  type Cell,
  constant,
  type FunctionValue,
  type Native,
  native,
  objectOf,
  plain,
  undefinedValue,
  unknown,
} from './abstract-value.ts';
import { setProperty } from './attached.ts';
import { type Machine, normalCompletion } from './machine.ts';
import { request } from './request-name.ts';
import { isNothing, truthOf, valueOf } from './value-arithmetic.ts';

export function runHandlers(machine: Machine, [fn, ...rest]: readonly FunctionValue[], at: ts.Node): void {
  if (fn === undefined) return;
  const link = new Link(machine, () => runHandlers(machine, rest, at));
  const ended = machine.settle(machine.invoke(fn, handlerArguments(machine, fn, link.next), at), at);
  machine.shown.push(valueOf(ended));
  if (ended.kind !== 'never') link.continue();
}

/** Between a function and those behind it. */
class Link {
  readonly #machine: Machine;
  readonly #rest: () => void;
  readonly #repeats: number;
  /** Has it called `next`? */
  readonly #isPassed: Cell = { value: undefinedValue };
  #hasRun = false;

  constructor(machine: Machine, rest: () => void) {
    this.#machine = machine;
    this.#rest = rest;
    this.#repeats = machine.emitter.repeats;
  }

  get next(): Native {
    return native('next', ([given], at) => {
      this.#handOn(given, at);
      if (given !== undefined && given.kind !== 'value' && !isNothing(given) && !handsOn(given)) return undefinedValue;
      const { memory, emitter, project } = this.#machine;
      // What stands behind `await next()` runs behind the handlers.
      const isAwaited = given === undefined && project.ts.isAwaitExpression(at.parent);
      if (!isAwaited || emitter.repeats !== this.#repeats) {
        const isError = given !== undefined && !isNothing(given) && !handsOn(given);
        memory.write(this.#isPassed, isError ? unknown('whether it is an error') : constant(true));
        return undefinedValue;
      }
      this.#hasRun = true;
      this.#rest();
      return undefinedValue;
    });
  }

  /** tRPC: `next({ ctx: { user } })`. */
  #handOn(given: Abstract | undefined, at: ts.Node): void {
    const context = given?.kind === 'object' ? given.properties.get('ctx')?.value : undefined;
    if (context?.kind !== 'object') return;
    const owner = plain({ kind: 'argument', name: 'ctx' });
    for (const [name, { value }] of context.properties) setProperty(this.#machine, owner, name, value, at);
  }

  /** Those behind it, where they have not run. A function that never calls `next` may have given it to other code. */
  continue(): void {
    if (this.#hasRun) return;
    const { value } = this.#isPassed;
    if (value.kind === 'undefined') return this.#rest();
    this.#machine.fork(
      truthOf(value),
      () => (this.#rest(), normalCompletion),
      () => normalCompletion,
    );
  }
}

function handsOn(given: Abstract): boolean {
  return given.kind === 'object' && given.properties.has('ctx');
}

/** Request, response, next; `(context, next)`; of tRPC, `({ ctx, input, next })`. */
function handlerArguments(machine: Machine, { node }: FunctionValue, next: Native): readonly Abstract[] {
  const { ts } = machine.project;
  const of = plain({ kind: 'argument', name: request });
  const all = [of, unknown('the response'), next];
  return node.parameters.map(({ name }, index) => {
    if (ts.isObjectBindingPattern(name) && name.elements.some((one) => one.name.getText() === 'next'))
      return { ...objectOf({ next }), rest: of };
    const isNext = ts.isIdentifier(name) && /^_?(?:next|done)$/.test(name.text);
    if (index > 2) return plain({ kind: 'argument', name: `params.${ts.isIdentifier(name) ? name.text : index}` });
    return isNext ? next : (all[index] ?? next);
  });
}
