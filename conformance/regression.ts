/** One regression file on both databases, statement by statement in one session. */
import { createHash } from 'node:crypto';
import { isUnsupported, type Answer, type Client } from '../test/sql-oracle/answer.ts';
import { Doubt, sortColumns } from './regression-doubt.ts';
import { answerOutcome } from './schedule.ts';

export type StatementResult =
  /** Succeeds on both with the same rows, or fails on both with the same code. */
  | 'equal'
  | 'equal error'
  /** Refused as not supported, by name. */
  | 'unsupported'
  /** Fails on moirai with an error that does not say so. */
  | 'other error'
  /** Succeeds on both with other rows. */
  | 'other rows'
  /** The same, where an earlier statement about the same names was refused. */
  | 'follow-up rows'
  | 'missing error';

export interface ComparedStatement {
  readonly result: StatementResult;
  readonly sql: string;
  readonly ours: Answer;
  readonly theirs: Answer;
}

export async function runFile(
  statements: readonly string[],
  { ours, theirs }: { readonly ours: Client; readonly theirs: Client },
): Promise<ComparedStatement[]> {
  const compared: ComparedStatement[] = [];
  const doubt = new Doubt();
  for (const sql of statements) {
    // Plans are a server's own.
    if (/^explain\b/i.test(sql)) continue;
    const columns = sortColumns(sql);
    const restore = await settingBefore(sql, theirs);
    const [expected, answer] = [
      await theirs.ask({ sql, isOrdered: true }),
      await orBug(ours.ask({ sql, isOrdered: true })),
    ];
    const result = resultOf(answer, expected, columns, doubt.isAbout(sql));
    const isSame = result === 'equal' || result === 'equal error';
    doubt.record(sql, isSame, { ours: answer, theirs: expected });
    // A setting that moirai refuses is not set on the server either.
    if (restore !== null && answer.kind === 'error' && expected.kind !== 'error') await theirs.ask({ sql: restore });
    compared.push({ result, sql, ours: answer, theirs: expected });
  }
  return compared;
}

/** What sets back the setting that a statement sets. */
async function settingBefore(sql: string, client: Client): Promise<string | null> {
  const set = /^(?:re)?set\s+(?:session\s+|local\s+)?(time\s+zone|[\w.]+)/i.exec(sql);
  const setting = (set?.[1] ?? 'constraints').toLowerCase().replace(/^time\s+zone$/, 'timezone');
  if (['constraints', 'transaction', 'session', 'role', 'all'].includes(setting)) return null;
  const shown = await client.ask({ sql: `select current_setting('${setting}', true)` });
  const [value] = shown.kind === 'rows' ? (JSON.parse(shown.rows[0] ?? '[]') as (string | null)[]) : [];
  if (value === undefined || value === null) return null;
  return `select set_config('${setting}', '${value.replaceAll("'", "''")}', false)`;
}

/** A bug of moirai is an error that the server does not have. */
async function orBug(asked: Promise<Answer>): Promise<Answer> {
  return asked.catch((error: unknown) => ({ kind: 'error', code: 'a bug of moirai', message: String(error) }));
}

function resultOf(
  ours: Answer,
  theirs: Answer,
  columns: readonly string[] | null,
  isDoubtful: boolean,
): StatementResult {
  if (theirs.kind === 'error') {
    if (ours.kind !== 'error') return isDoubtful ? 'follow-up rows' : 'missing error';
    return ours.code === theirs.code ? 'equal error' : isUnsupported(ours) ? 'unsupported' : 'other error';
  }
  if (ours.kind === 'error') return isUnsupported(ours) ? 'unsupported' : 'other error';
  if (sameRows(ours, theirs, columns)) return 'equal';
  return isDoubtful ? 'follow-up rows' : 'other rows';
}

/** The same rows, in the same order as far as ORDER BY decides it. */
function sameRows(ours: Answer, theirs: Answer, columns: readonly string[] | null): boolean {
  if (ours.kind !== 'rows' || theirs.kind !== 'rows') return answerOutcome(ours) === answerOutcome(theirs);
  if (ours.rows.toSorted().join(' ') !== theirs.rows.toSorted().join(' ')) return false;
  if (columns === null) return true;
  const names = theirs.columns.map((column) => column.split(' ', 1)[0]?.toLowerCase());
  const places = columns.map((column) => (/^\d+$/.test(column) ? Number(column) - 1 : names.indexOf(column)));
  if (places.includes(-1)) return true;
  const keys = (rows: readonly string[]): string => {
    const values = rows.map((row) => JSON.parse(row) as unknown[]);
    return JSON.stringify(values.map((row) => places.map((place) => row[place])));
  };
  return keys(ours.rows) === keys(theirs.rows);
}

/** Eight characters that stand for a statement: the repository holds none of PostgreSQL's. */
export function statementKey(sql: string): string {
  return createHash('sha256').update(sql.replaceAll(/\s+/g, ' ').trim()).digest('hex').slice(0, 8);
}
