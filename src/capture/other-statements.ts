/** Statements that do something to transactions or rows which the grammar of queries does not show: by their first words. */
import type { Dialect } from '../sql/model/index.ts';
import type { StatementPlan } from './statement-plan.ts';

const opaque: StatementPlan = { kind: 'opaque', writes: true, why: 'it runs another statement' };
const neutral: StatementPlan = { kind: 'neutral' };

type OtherStatements = readonly (readonly [RegExp, StatementPlan])[];

const mysql: OtherStatements = [
  // What belongs to one session commits nothing.
  [/^(?:create(?:\s+or\s+replace)?|drop)\s+temporary\s/i, neutral],
  // These commit what is open.
  [/^(?:analyze|check|optimize|repair)\s+(?:no_write_to_binlog\s+|local\s+)?tables?\b/i, { kind: 'ddl' }],
  [/^(?:flush|reset|lock\s+tables?|(?:un)?install|cache\s+index|load\s+index)\b/i, { kind: 'ddl' }],
  // MariaDB's ANALYZE runs the statement behind it, as SET STATEMENT does.
  [/^(?:analyze|set\s+statement)\b/i, opaque],
  [
    /^xa\s+(?:start|begin)\b/i,
    { kind: 'transaction', statement: { kind: 'transaction', command: 'XA', what: 'begin', modes: {} } },
  ],
  [
    /^xa\s+commit\b/i,
    { kind: 'transaction', statement: { kind: 'transaction', command: 'XA', what: 'commit', andChain: false } },
  ],
  [
    /^xa\s+rollback\b/i,
    { kind: 'transaction', statement: { kind: 'transaction', command: 'XA', what: 'rollback', andChain: false } },
  ],
  [/^xa\b/i, neutral],
];
const postgres: OtherStatements = [
  [/^prepare\s+transaction\b/i, { kind: 'prepared' }],
  [/^(?:commit|rollback)\s+prepared\b/i, neutral],
  [/^explain\b[^;]*?\banaly[sz]e\b/i, opaque],
];

const otherStatements: Readonly<Record<Dialect, OtherStatements>> = { postgres, mysql };

/** O(1) but for comments in front */
export function otherStatement(sql: string, dialect: Dialect): StatementPlan | undefined {
  const text = sql.replace(/^(?:\s|--[^\n]*\n|\/\*(?!!)[\s\S]*?\*\/)+/, '');
  return otherStatements[dialect].find(([pattern]) => pattern.test(text))?.[1];
}
