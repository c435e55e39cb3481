/** What `moirai analyze` reads of statements that ran: a trace with its schema, or a SQL program whose sessions run alone. */
import {
  applicationFromTraffic,
  RanTransactions,
  sessionOfConnection,
  trafficOfProgram,
  trafficText,
  type Application,
} from '../../analyze/index.ts';
import { TraceReader, requireStatements } from '../../trace/index.ts';
import { InputError, shownPath } from '../../base/index.ts';
import { checkedSum } from '../../history/index.ts';
import type { SqlProgram } from '../../program/index.ts';
import { loadParser } from '../../sql/index.ts';
import type { Host } from '../host.ts';

export interface ReadTraffic {
  readonly application: Application;
  /** What was inferred, and from how much. */
  readonly traffic: string;
}

export function isTraceFile(file: string): boolean {
  return file === '-' || file.endsWith('.jsonl');
}

/** @throws InputError `trace/...`, `analyze/schema-missing` */
export async function readTrace(file: string, schema: string | undefined, host: Host): Promise<ReadTraffic> {
  if (schema === undefined)
    throw new InputError(
      'analyze/schema-missing',
      `a trace needs the schema of its database: moirai analyze ${file} --schema schema.sql`,
    );
  await loadParser();
  const transactions = new RanTransactions();
  const shown = file === '-' ? 'standard input' : shownPath(file);
  let statements = 0;
  const reader = new TraceReader({
    onOperation: () => undefined,
    onStatement: (statement, line) => {
      statements += 1;
      transactions.take({ ...statement, place: { file: shown, line } });
    },
  });
  try {
    for await (const chunk of checkedSum('trace', host.openInput(file))) reader.push(chunk);
    reader.finish();
    requireStatements(statements);
    const text = new TextDecoder().decode(await host.readInput(schema));
    const found = await applicationFromTraffic(transactions.finish(), {
      schema: text,
      ownsConstants: false,
      nameOf: () => null,
    });
    return { application: found.application, traffic: trafficText(found) };
  } catch (error) {
    throw error instanceof InputError && error.place?.file === undefined && !error.code.startsWith('analyze/schema')
      ? error.in(shown)
      : error;
  }
}

/** @throws InputError `program/...` */
export async function readProgram(program: SqlProgram, file: string): Promise<ReadTraffic> {
  const { traffic, schema } = await trafficOfProgram(program, shownPath(file));
  const found = await applicationFromTraffic(traffic, {
    schema,
    ownsConstants: true,
    nameOf: (connections) => [...new Set(connections.map(sessionOfConnection))].join(', '),
  });
  return { application: found.application, traffic: trafficText(found) };
}
