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
import { kindOf, ofKind, requireKind } from '../files/file-kind.ts';
import type { Host } from '../host.ts';
import { ddlOf } from './analyze-source.ts';

export interface ReadTraffic {
  readonly application: Application;
  /** What was inferred, and from how much. */
  readonly traffic: string;
}

/**
 * By its name, or by what is in a file that is neither source nor a module.
 * @throws InputError `analyze/no-source` for one that is none of them, `trace/header` for what another command reads
 */
export async function isTraceFile(file: string, host: Host): Promise<boolean> {
  if (file === '-' || file.endsWith('.jsonl')) return true;
  if (/\.[cm]?[jt]sx?$/.test(file) || (await host.listFolder(file)) !== null) return false;
  for await (const first of host.openInput(file)) {
    requireKind('trace', first, file);
    if (kindOf(first) === 'trace') return true;
    break;
  }
  throw new InputError('analyze/no-source', 'this is neither TypeScript or JavaScript nor a trace', { file });
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
    for await (const chunk of checkedSum('trace', ofKind('trace', host.openInput(file), file))) reader.push(chunk);
    reader.finish();
    requireStatements(statements);
    const text = await ddlOf(schema, host);
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
