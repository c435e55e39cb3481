/** Does the invariant hold at the end of a run? */
import { InputError, before, LATE } from '../base/index.ts';
import type { Key, Value } from '../history/index.ts';
import { mark } from './marks.ts';
import { isSessionNameFault } from './observed-names.ts';
import type { End, Program } from './program.ts';

export type InvariantVerdict =
  | { readonly kind: 'holds' }
  /** `mistake`: it threw an error of its own code. */
  | { readonly kind: 'fails'; readonly message: string; readonly mistake: Error | null }
  | { readonly kind: 'late' };

export interface JudgeLimits {
  /** In `monotonicMs`. */
  readonly deadlineMs?: number;
  /** Aborted: it is late. */
  readonly signal?: AbortSignal;
}

/**
 * @param limits when an invariant that is asynchronous must have settled
 * @throws InputError `program/invariant-undefined`, `program/invariant-result`, `program/session-name`
 */
export async function judge(
  program: Program,
  end: End,
  { deadlineMs = Infinity, signal }: JudgeLimits = {},
): Promise<InvariantVerdict> {
  let returned: unknown;
  try {
    const judged = program.invariant(end);
    returned = await (judged instanceof Promise ? before(deadlineMs, judged, signal) : judged);
  } catch (error) {
    if (isSessionNameFault(error)) throw error;
    return { kind: 'fails', message: errorText(error), mistake: mistakeOf(error) };
  }
  if (returned === LATE) return { kind: 'late' };
  const message = violationOf(returned);
  return message === null ? { kind: 'holds' } : { kind: 'fails', message, mistake: null };
}

/** Errors of code that is wrong: it asks nothing for a part, or names what there is not. Others are thrown on purpose. `null`: it is none. */
export function mistakeOf(thrown: unknown): Error | null {
  return thrown instanceof TypeError || thrown instanceof ReferenceError ? thrown : null;
}

/** Of an invariant that threw `mistake` in every serial run, too. */
export function invariantThrew(mistake: Error): InputError {
  const fault = new InputError(
    'program/invariant-threw',
    `the invariant throws also when the sessions run one after another: ${errorText(mistake)}`,
  );
  fault.cause = mistake;
  return fault;
}

/**
 * What an invariant that returned `returned` says is wrong; `null` where it holds. A value that is no answer is refused: an invariant without
 * a `return` would otherwise hold in every run.
 * @throws InputError `program/invariant-undefined`, `program/invariant-result`
 */
export function violationOf(returned: unknown): string | null {
  if (returned === true) return null;
  if (returned === false) return 'the invariant does not hold';
  if (typeof returned === 'string' && returned !== '') return returned;
  if (returned === undefined) {
    throw new InputError(
      'program/invariant-undefined',
      'the invariant returned undefined: is a return missing? Return true, false or a sentence',
    );
  }
  throw new InputError(
    'program/invariant-result',
    `the invariant returned ${wordsOf(returned)}: return true where it holds, false or a sentence where it does not`,
  );
}

function wordsOf(returned: unknown): string {
  if (returned === '') return 'an empty sentence';
  return typeof returned === 'number' || returned === null ? String(returned) : `a value of type ${typeof returned}`;
}

/** What an invariant is given. @param drawFinal called where it looks at the final state, once */
export function endOf(results: End['results'], marks: Map<string, boolean>, drawFinal: () => Record<Key, Value>): End {
  let final: Record<Key, Value> | null = null;
  return {
    results,
    get final() {
      final ??= drawFinal();
      return final;
    },
    sometimes: (name, condition = true) => mark(marks, name, condition),
  };
}

/** What was thrown, in one line. */
export function errorText(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message.split('\n', 1)[0] ?? ''}`
    : `${String(error)} was thrown`;
}
