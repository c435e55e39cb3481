/**
 * Functions outside the sources that throw where what they are given does not hold: `assert(seat.status === 'free')`. What stands behind such a call depends on
 * it. Others are taken not to throw: a logger, a mailer.
 */
import type { Value } from '../application.ts';
import type { Abstract, External } from './abstract-value.ts';
import { compare, computedFrom, not, readsBehind } from './conditions.ts';
import { normalCompletion, type Machine } from './machine.ts';
import { functionsIn } from './run-sometime.ts';
import { truthOf, valueOf } from './value-arithmetic.ts';

/** Where the call is one of these functions, and what was read decides it: a path on which it throws. */
export function throwUnlessHolds(machine: Machine, callee: External, args: readonly Abstract[], name: string): void {
  // One that calls functions of the sources does more than to check.
  if (args.some((arg) => functionsIn(arg).length > 0)) return;
  const condition = conditionOf(callee, args, name);
  if (condition === undefined || readsBehind([condition])?.length === 0) return;
  machine.fork(
    condition,
    () => normalCompletion,
    () => machine.raise(),
  );
}

/** Of Node. */
const assertModule = /^(?:node:)?assert(?:\/strict)?$/;
/** Each exports a function that throws where its first argument is false. */
const firstHolds = /^(?:tiny-invariant|ts-invariant|invariant|http-assert|ts-tiny-invariant|power-assert)$/;
/** By their names alone. */
const checks = /^(?:assert|ensure|check|validate|verify|invariant|must|guard|expect|require)(?![a-z])/;

/** What holds where the call does not throw. */
function conditionOf({ module, path }: External, args: readonly Abstract[], name: string): Value | undefined {
  const [first, second] = args;
  const own = path.filter((part) => part !== 'default' && part !== 'strict');
  const last = own.at(-1) ?? 'assert';
  if (module === '' || last === '()' || own.length > 1 || first === undefined) return undefined;
  const isOfNode = assertModule.test(module);
  if (firstHolds.test(module) || (isOfNode && (last === 'assert' || last === 'ok'))) return truthOf(first);
  if (isOfNode && second !== undefined) {
    if (last === 'equal' || last === 'strictEqual') return compare('=', valueOf(first), valueOf(second));
    if (last === 'notEqual' || last === 'notStrictEqual') return not(compare('=', valueOf(first), valueOf(second)));
  }
  if (isOfNode || checks.test(last) || checks.test(name))
    return not(computedFrom(`whether ${name} throws`, args.map(valueOf)));
  return undefined;
}
