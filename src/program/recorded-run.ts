/**
 * Recorded runs: what a run has to do again to count as a replay. Choices alone do not say it: they are numbers, which another program, or
 * the same after a change, follows just as well. So a token ends with two hashes, of the program's shape and of the steps that the run took; and with a
 * checksum, because choices with a mistyped character are choices, too.
 *
 * The shape is what a run starts from: the sessions by name, the initial state or schema, and the level where choices depend on it. A step is
 * one operation or statement of a session, without the values that it writes or its parameters: a fix may compute other values in the same
 * steps; a run that takes other steps is another run.
 */
import { createHash } from 'node:crypto';
import { crc32, InputError } from '../base/index.ts';
import { type History, INITIAL, type Operation, type TransactionIndex } from '../history/index.ts';

/** What a run did, without values: what its replay has to do again. */
export interface RecordedRun {
  /** Sessions, initial state or schema, and level, each as a text: `session "a"`. */
  readonly shape: readonly string[];
  /** What the run did, in order, up to the invariant: `session "a" reads x, the initial value`. */
  readonly steps: readonly string[];
  /** The program's invariant, as it is written, where that is known; `null`: it had none. */
  readonly invariant?: string | null;
}

/** Does a run do what its token recorded? */
export type Replayed = ReplayedRun & {
  /** Does a checksum say that the token is the one that was printed? Those of older versions have none. */
  readonly isSummed: boolean;
};

/** Whether the replay took the steps of the recorded run, or why not. */
export type ReplayedRun =
  | { readonly kind: 'same-steps'; readonly run: RecordedRun }
  /** They are the same, and nothing judges them: the program has no invariant, and the recorded one may have had one. */
  | { readonly kind: 'not-judged'; readonly run: RecordedRun }
  /** `reason`: where that is known without the recorded steps. */
  | { readonly kind: 'other-steps'; readonly run: RecordedRun; readonly reason: string | null }
  /** It was not run. */
  | { readonly kind: 'other-program'; readonly shape: RecordedRun['shape'] };

/** What a replay answers: a run that fails is a violation, also where it took other steps; one that holds counts only with the same steps. */
export type ReplayAnswer = 'still-fails' | 'fixed' | 'incompatible';

export function answerOf(replayed: Replayed, violations: number): ReplayAnswer {
  if (replayed.kind === 'other-program') return 'incompatible';
  if (violations > 0) return 'still-fails';
  return replayed.kind === 'same-steps' ? 'fixed' : 'incompatible';
}

/** What a token holds. */
export interface ReplayToken {
  readonly choices: string;
  /** Of the recorded run. */
  readonly shape: string;
  readonly steps: string;
  readonly isSummed: boolean;
}

/** `2.101` becomes `2.101.k3f90c2a-1x9hq2z`: the choices, four characters of the shape, four of the steps, seven of the CRC-32 of all before it. */
export function sealToken(choices: string, { shape, steps }: RecordedRun): string {
  const content = `${choices}.${hash(shape)}${hash(steps)}`;
  return `${content}-${tokenSum(content)}`;
}

/**
 * All 32 bits of the sum, since then every changed character and every two neighbours that are swapped are found, not only most. Choices have a point (`2.`)
 * or a slash (`a/0`): without one, what looks like hashes is what a cut has left of the choices.
 * @throws InputError `replay/token`
 */
export function openToken(token: string): ReplayToken {
  const parts =
    /^(?<content>(?<choices>.*[./].*)\.(?<shape>[0-9a-z]{4})(?<steps>[0-9a-z]{4}))(?:-(?<sum>[0-9a-z]{7}))?$/.exec(
      token,
    );
  const { content, choices, shape, steps, sum } = parts?.groups ?? {};
  if (content === undefined || choices === undefined || shape === undefined || steps === undefined)
    throw new InputError(
      'replay/token',
      `"${token}" is not a replay token: it ends with a point, eight characters, "-" and seven more, and is printed by a run that failed`,
    );
  if (sum !== undefined && sum !== tokenSum(content))
    throw new InputError(
      'replay/token',
      `this token is damaged: "${token}" does not have the checksum of a token that moirai printed; copy it again`,
    );
  return { choices, shape, steps, isSummed: sum !== undefined };
}

function tokenSum(content: string): string {
  return crc32(new TextEncoder().encode(content)).toString(36).padStart(7, '0');
}

export function isSameShape(token: ReplayToken, shape: RecordedRun['shape']): boolean {
  return token.shape === hash(shape);
}

/** @param reason why the run cannot be the recorded one, if it cannot */
export function compareRun(
  token: ReplayToken,
  run: RecordedRun,
  { invariantText }: { readonly invariantText: string | null },
  reason: string | null = null,
): Replayed {
  const { isSummed } = token;
  if (!isSameShape(token, run.shape)) return { kind: 'other-program', shape: run.shape, isSummed };
  const isSame = reason === null && token.steps === hash(run.steps);
  if (!isSame) return { kind: 'other-steps', run, reason, isSummed };
  const judged = { ...run, invariant: invariantText };
  return { kind: invariantText === null ? 'not-judged' : 'same-steps', run: judged, isSummed };
}

/** 20 bits of SHA-256: two different programs agree once in 1.7 million. */
function hash(texts: readonly string[]): string {
  const bits = createHash('sha256').update(JSON.stringify(texts)).digest().readUInt32BE();
  return (bits % 36 ** 4).toString(36).padStart(4, '0');
}

/** Where two runs, or two shapes, part: the number of the text, from 1, and what it is in each; `null`: it had ended. */
export interface Divergence {
  readonly step: number;
  readonly recorded: string | null;
  readonly now: string | null;
}

/** `null` where they are the same. */
export function divergenceOf(recorded: readonly string[], now: readonly string[]): Divergence | null {
  const length = Math.max(recorded.length, now.length);
  for (let i = 0; i < length; i += 1)
    if (recorded[i] !== now[i]) return { step: i + 1, recorded: recorded[i] ?? null, now: now[i] ?? null };
  return null;
}

// ---- programs that read and write keys

/** @param level where the choices of a token depend on it */
export function shapeOfKeys(
  { sessions, initial }: Pick<History, 'sessions' | 'initial'>,
  level: string | null,
): string[] {
  const values = [...initial].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    'a program of keys',
    ...sessions.map((name) => `session "${name}"`),
    `initial state ${JSON.stringify(values)}`,
    ...(level === null ? [] : [`level ${level}`]),
  ];
}

/** A history without its values. */
export function stepsOfHistory({ sessions, transactions }: History): string[] {
  return transactions.flatMap(({ session, operations, status, level }) => {
    const name = `session "${sessions[session]}"`;
    const at = level === undefined ? '' : ` at ${level}`;
    const step = (operation: Operation): string => `${name} ${operationStep(operation)}`;
    return [`${name} begins a transaction${at}`, ...operations.map(step), `${name} ${endStep(status)}`];
  });

  function operationStep(operation: Operation): string {
    if (operation.kind === 'write') return `writes ${operation.key}`;
    return `reads ${operation.key}${operation.from === undefined ? '' : `, ${sourceText(operation.from)}`}`;
  }

  function sourceText(from: TransactionIndex): string {
    return from === INITIAL ? 'the initial value' : `written by ${transactions[from]?.id}`;
  }
}

function endStep(status: 'committed' | 'aborted' | 'unknown'): string {
  return status === 'committed' ? 'commits' : 'rolls back';
}
