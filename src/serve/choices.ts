/**
 * The log of what was decided, for `--replay`: whose statement went next, and which reads did not see the newest write (axiomatic family).
 * Sessions are numbered as they connected. A replay waits for the session whose turn it is.
 */
import { InputError } from '../base/input-error.ts';
import { type Decisions, following, readPointKey } from '../mockdb/index.ts';

/** Version 2: statements stop inside, and each time they continue is a turn of its own in the schedule. */
const header = '{"moirai":"choices","version":2}';

/** JSON Lines: a header, the schedule, the reads. */
export function formatChoices({ schedule, readChoices }: Decisions): string {
  const older = readChoices
    .filter(({ position }) => position > 0)
    .map(({ session, attempt, read, position }) => [session, attempt, read, position]);
  return `${header}\n${JSON.stringify({ schedule })}\n${JSON.stringify({ older })}\n`;
}

export interface Replay {
  readonly decisions: Decisions;
  /** Whose turn it is; undefined when the log is at its end. */
  readonly awaited: () => number | undefined;
}

/** @throws InputError `choices/format` */
export function parseChoices(text: string): Replay {
  const [first, ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  if (first?.replaceAll(/\s/g, '') !== header)
    throw new InputError('choices/format', `a log of choices begins with ${header}`, { line: 1 });
  const parts: Record<string, unknown> = Object.assign({}, ...lines.map((line, i) => jsonObject(line, i + 2)));
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
  return { decisions: { ...reads, session }, awaited };
}

function jsonObject(line: string, number: number): object {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // told below
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
