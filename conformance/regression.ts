/** One regression file on both databases, statement by statement in one session. */
import { createHash } from 'node:crypto';
import { isUnsupported, type Answer, type Client } from '../test/sql-oracle/answer.ts';
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
  /** Names that a statement was about which came to something else. */
  const doubtful = new Set<string>();
  for (const sql of statements) {
    // Plans are a server's own.
    if (/^explain\b/i.test(sql)) continue;
    const isOrdered = /\border\s+by\b/i.test(sql);
    const expected = await theirs.ask({ sql, isOrdered });
    const answer = await orBug(ours.ask({ sql, isOrdered }));
    const result = resultOf(sql, answer, expected, doubtful);
    if (result !== 'equal' && result !== 'equal error') for (const name of namesWritten(sql)) doubtful.add(name);
    compared.push({ result, sql, ours: answer, theirs: expected });
  }
  return compared;
}

/** A bug of moirai is an error that the server does not have. */
async function orBug(asked: Promise<Answer>): Promise<Answer> {
  return asked.catch((error: unknown) => ({ kind: 'error', code: 'a bug of moirai', message: String(error) }));
}

function resultOf(sql: string, ours: Answer, theirs: Answer, doubtful: ReadonlySet<string>): StatementResult {
  if (theirs.kind === 'error') {
    if (ours.kind !== 'error') return 'missing error';
    return ours.code === theirs.code ? 'equal error' : isUnsupported(ours) ? 'unsupported' : 'other error';
  }
  if (ours.kind === 'error') return isUnsupported(ours) ? 'unsupported' : 'other error';
  if (answerOutcome(ours) === answerOutcome(theirs)) return 'equal';
  const words = sql.toLowerCase().match(/[a-z_]\w*/g) ?? [];
  return words.some((word) => doubtful.has(word)) ? 'follow-up rows' : 'other rows';
}

/** What a statement makes or changes. */
function namesWritten(sql: string): string[] {
  const written =
    /\b(?:into|update|delete\s+from|table|view|index|type|domain|function|procedure|sequence|schema|trigger|rule|truncate|copy|prepare|declare|operator|aggregate|cast|set)\s+(?:if\s+(?:not\s+)?exists\s+|only\s+|local\s+|session\s+)*"?([a-z_][\w.]*)/gi;
  const names = [...sql.matchAll(written)].map(([, name]) => (name ?? '').toLowerCase());
  const indexed = /\bindex\b.*?\bon\s+"?([a-z_]\w*)/is.exec(sql)?.[1];
  return [...names, ...(indexed === undefined ? [] : [indexed.toLowerCase()])].map(
    (name) => name.split('.').at(-1) ?? name,
  );
}

/** Eight characters that stand for a statement: the repository holds none of PostgreSQL's. */
export function statementKey(sql: string): string {
  return createHash('sha256').update(sql.replaceAll(/\s+/g, ' ').trim()).digest('hex').slice(0, 8);
}
