/**
 * The log of what was decided, for `--replay`: whose statement went next, and which reads did not see the newest write (axiomatic family).
 * Sessions are numbered as they connected. A replay waits for the session whose turn it is.
 */
import { InputError } from '../../base/index.ts';
import { checkSum, withEndLine } from '../../history/index.ts';
import { type Decisions, following, readPointKey } from '../../mockdb/index.ts';

/**
 * Version 2: statements stop inside, and each time they continue is a turn of its own in the schedule. Version 3 ends with the sum of what is before it, so
 * that a log without one is known to be cut.
 */
const header = '{"moirai":"choices","version":3}';
const headerWithoutSum = '{"moirai":"choices","version":2}';

/** JSON Lines: a header, the schedule, the reads, the sum. */
export function formatChoices({ schedule, readChoices }: Decisions): string {
  const older = readChoices
    .filter(({ position }) => position > 0)
    .map(({ session, attempt, read, position }) => [session, attempt, read, position]);
  return withEndLine('choices', `${header}\n${JSON.stringify({ schedule })}\n${JSON.stringify({ older })}\n`);
}

export interface Replay {
  readonly decisions: Decisions;
  /** Whose turn it is; undefined when the log is at its end. */
  readonly awaited: () => number | undefined;
  /** Where the turns that were taken are not those of the log; `null`: they are. */
  readonly departure: () => string | null;
  /** Does a checksum say that the log is whole? Logs of version 2 may have none. */
  readonly isSummed: boolean;
}

/** @throws InputError `choices/format`, `choices/corrupt` */
export function parseChoices(text: string): Replay {
  const lines = text.split('\n').map((line) => line.trim());
  if (lines.at(-1) === '') lines.pop();
  const first = lines[0]?.replaceAll(/\s/g, '');
  if (first !== header && first !== headerWithoutSum)
    throw new InputError('choices/format', `a log of choices begins with ${header}`, { line: 1 });
  const isSummed = checkSum('choices', text);
  if (first === header && !isSummed)
    throw new InputError('choices/format', 'the log was cut: its last line, which has the checksum, is missing', {
      line: Math.max(1, lines.length),
    });
  const fields = ['schedule', 'older', ...(isSummed ? ['moirai'] : [])];
  const parts = lines.slice(1).map((line, i) => jsonObject(line, i + 2));
  const wrong = [...fields, ...parts.slice(fields.length)].findIndex(
    (_, i) => !Object.hasOwn(parts[i] ?? {}, fields[i] ?? ''),
  );
  if (wrong >= 0)
    throw new InputError('choices/format', 'a log of choices is its header, "schedule" and "older", each a line', {
      line: wrong + 2,
    });
  const replay = replayOf({ ...parts[0], ...parts[1] });
  return { ...replay, isSummed };
}

function replayOf(parts: Readonly<Record<string, unknown>>): Omit<Replay, 'isSummed'> {
  const schedule = integers(parts['schedule'], 'schedule');
  const older = new Map<string, number>();
  for (const choice of list(parts['older'], 'older')) {
    const [session, attempt, read, position, ...rest] = integers(choice, 'older');
    if (
      session === undefined ||
      attempt === undefined ||
      read === undefined ||
      position === undefined ||
      rest.length > 0
    )
      throw new InputError('choices/format', '"older" holds [session, attempt, read, position]');
    older.set(readPointKey({ session, attempt, read }), position);
  }
  const reads = following([], older);
  const awaited = (): number | undefined => schedule[reads.schedule.length];
  const session = (ready: readonly number[]): number => {
    const turn = awaited();
    return reads.session([turn !== undefined && ready.includes(turn) ? turn : (ready[0] as number)]);
  };
  const departure = (): string | null => departureOf(schedule, reads.schedule);
  return { decisions: { ...reads, session }, awaited, departure };
}

function departureOf(log: readonly number[], taken: readonly number[]): string | null {
  const other = log.findIndex((turn, i) => i < taken.length && taken[i] !== turn);
  if (other >= 0)
    return `turn ${other + 1} of ${log.length} was that of session ${log[other]}, and session ${taken[other]} took it`;
  if (taken.length < log.length) return `${taken.length} of ${log.length} turns were taken`;
  const more = taken.length - log.length;
  return more === 0 ? null : `${more} more than the ${log.length} turns of the log were taken`;
}

function jsonObject(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // said below
  }
  throw new InputError('choices/format', 'not a JSON object', { line: number });
}

function list(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new InputError('choices/format', `"${name}" is not an array`);
}

function integers(value: unknown, name: string): number[] {
  const numbers = list(value, name);
  if (numbers.every((each) => Number.isSafeInteger(each) && (each as number) >= 0)) return numbers as number[];
  throw new InputError('choices/format', `"${name}" holds something that is no whole number`);
}
