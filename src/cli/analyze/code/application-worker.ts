/** In a thread: the application of one session. Each job is a call of one of its functions. */
import { workerData } from 'node:worker_threads';
import type { CallOutcome, ExportedFunction, UnitCall } from '../../../analyze/index.ts';
import { errorText } from '../../../program/index.ts';
import { defaultOf, loadModule } from '../../modules/load-program.ts';
import { answerJobs } from '../../threads/answer-jobs.ts';
import { GuardedNetwork } from './guarded-network.ts';
import { runHandlers } from './run-handlers.ts';

export interface ApplicationData {
  /** Of the session's database. */
  readonly port: number;
}

// What started this thread gives it these.
const { port } = workerData as ApplicationData;
const network = new GuardedNetwork(port);

// A pool whose idle connection has ended says so, and an application may do without a listener: each call ends its connections.
process.on('uncaughtException', () => undefined);
process.on('unhandledRejection', () => undefined);

answerJobs<UnitCall, CallOutcome>(Promise.resolve(callUnit));

type AnyFunction = (...args: unknown[]) => unknown;

async function callUnit(call: UnitCall): Promise<CallOutcome> {
  network.takeRefused();
  const outcome = await loadAndCall(call);
  const refused = network.takeRefused();
  if (refused === null || outcome.kind === 'failed') return outcome;
  return { kind: 'failed', reason: `it connects to ${refused}, which is not the mock database` };
}

async function loadAndCall(call: UnitCall): Promise<CallOutcome> {
  let functions: readonly AnyFunction[];
  try {
    functions = await Promise.all((call.kind === 'function' ? [call.of] : call.of).map(exportedFunction));
  } catch (error) {
    return { kind: 'failed', reason: errorText(error) };
  }
  // The ends of the connections of the call before are heard.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  try {
    const [first] = functions;
    if (call.kind === 'handlers') await runHandlers(functions, call.request);
    else await first?.(...call.arguments);
    return { kind: 'returned' };
  } catch (error) {
    return { kind: 'threw', error: errorText(error) };
  }
}

async function exportedFunction({ file, export: name }: ExportedFunction): Promise<AnyFunction> {
  const module = await loadModule(file);
  const whole = defaultOf(module);
  const inWhole =
    (typeof whole === 'object' || typeof whole === 'function') && whole !== null
      ? (whole as Record<string, unknown>)[name]
      : undefined;
  const found = name === 'default' ? whole : (module[name] ?? inWhole);
  if (typeof found === 'function') return found as AnyFunction;
  throw new Error(`${file} exports no function ${name} when it runs`);
}
