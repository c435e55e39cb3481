/** `npm run conformance -- regression`: PostgreSQL's core regression files, statement by statement, on moirai and on PostgreSQL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mockClient, realClient } from '../test/sql-oracle/compare.ts';
import type { Client } from '../test/sql-oracle/answer.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { CommandOptions } from './command.ts';
import { knownReason } from './known-regression.ts';
import { insertsOfCopy, statementsOfScript } from './psql-script.ts';
import { coreFiles } from './regression-files.ts';
import { type ComparedStatement, runFile, type StatementResult, statementKey } from './regression.ts';
import { answerOutcome } from './schedule.ts';
import { postgresTests } from './source-package.ts';

export async function regression({ flags, print }: CommandOptions): Promise<boolean> {
  const folder = join(postgresTests(), 'regress');
  const wanted = flags.get('file');
  const files = wanted === undefined ? coreFiles : [wanted];
  const totals = new Map<StatementResult, number>();
  let unknown = 0;
  const server = await startPostgres();
  try {
    for (const file of files) {
      const compared = await compareFile(folder, file, server.port);
      for (const { result } of compared) totals.set(result, (totals.get(result) ?? 0) + 1);
      const succeed = compared.filter(({ theirs }) => theirs.kind !== 'error');
      const equal = succeed.filter(({ result }) => result === 'equal').length;
      const silent = compared.filter((each) => each.result === 'other rows' && !isKnown(file, each));
      unknown += silent.length;
      print(
        `${file.padEnd(18)} ${String(equal).padStart(4)} / ${succeed.length}   ${silent.length} silently other rows`,
      );
      for (const each of silent) print(indented(each));
      for (const { sql, ours } of compared)
        if (ours.kind === 'error' && ours.code === 'a bug of moirai') print(`  a bug: ${sql}   ${ours.message}`);
      if (wanted !== undefined) printOthers(compared, print);
    }
  } finally {
    await server.stop();
  }
  print();
  for (const [result, count] of totals) print(`${String(count).padStart(6)}  ${result}`);
  print(`${unknown} silently other rows that are not listed`);
  return unknown === 0;
}

async function compareFile(folder: string, file: string, port: number): Promise<ComparedStatement[]> {
  const script = readFileSync(join(folder, 'sql', `${file}.sql`), 'utf8');
  const theirs = await realClient('postgres', port);
  for (const sql of ['drop schema public cascade', 'create schema public', `set statement_timeout = '30s'`])
    await theirs.ask({ sql });
  const ours = await mockClient('postgres');
  try {
    for (const sql of setUpFor(script, folder)) for (const client of [theirs, ours]) await ask(client, sql);
    return await runFile(statementsOfScript(script), { ours, theirs });
  } finally {
    await ours.end();
    await theirs.end();
  }
}

/** A table of the common set-up that moirai cannot make fails the statements that use it; that is seen there. */
async function ask(client: Client, sql: string): Promise<void> {
  await client.ask({ sql });
}

/** Of the set-up that all files share, the tables that this file names. */
function setUpFor(script: string, folder: string): string[] {
  const setUp = readFileSync(join(folder, 'sql', 'test_setup.sql'), 'utf8');
  const words = new Set(script.toLowerCase().match(/[a-z_]\w*/g));
  const isUsed = (sql: string): boolean => {
    const table = /^(?:create table|insert into|create index \S+ on)\s+(\w+)/i.exec(sql)?.[1];
    return table !== undefined && words.has(table.toLowerCase());
  };
  const copies = [...setUp.matchAll(/'\/data\/(\w+\.data)'\s*\nCOPY (\w+) FROM/g)].flatMap(
    ([, data = '', table = '']) =>
      words.has(table.toLowerCase())
        ? insertsOfCopy(
            table,
            readFileSync(join(folder, 'data', data), 'utf8')
              .trimEnd()
              .split('\n'),
          )
        : [],
  );
  const statements = statementsOfScript(setUp).filter(isUsed);
  const definitions = statements.filter((sql) => /^create table\b(?!.*\bas\b)/is.test(sql));
  return [...definitions, ...copies, ...statements.filter((sql) => !definitions.includes(sql))];
}

function isKnown(file: string, { sql }: ComparedStatement): boolean {
  return knownReason(file, statementKey(sql)) !== undefined;
}

function indented({ sql, ours, theirs }: ComparedStatement): string {
  const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)} ...` : text);
  const answers = [`PostgreSQL: ${short(answerOutcome(theirs))}`, `moirai:     ${short(answerOutcome(ours))}`];
  return [
    `  ${statementKey(sql)} ${short(sql.replaceAll(/\s+/g, ' '))}`,
    ...answers.map((line) => `      ${line}`),
  ].join('\n');
}

function printOthers(compared: readonly ComparedStatement[], print: (line?: string) => void): void {
  for (const each of compared) {
    if (each.result === 'equal' || each.result === 'equal error' || each.result === 'other rows') continue;
    const message = each.ours.kind === 'error' ? each.ours.message : '';
    print(`  ${each.result}: ${each.sql.replaceAll(/\s+/g, ' ').slice(0, 160)}   ${message}`);
  }
}
