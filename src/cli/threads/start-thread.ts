/** Worker threads of the command line. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { ownModule, runsFromSources } from '../own-files.ts';

/** @param name of the module that the thread runs, from `src/cli` and without its ending. From sources it needs the loader of this thread, which it does not inherit. */
export function startThread(
  name: string,
  workerData: unknown,
  options: Pick<WorkerOptions, 'env' | 'stdout' | 'stderr'> = {},
): Worker {
  const module = ownModule(name);
  if (!runsFromSources) return new Worker(module, { ...options, workerData });
  const loader = import.meta.resolve('tsx/esm/api');
  const code = `import('${loader}').then(({ register }) => { register(); return import('${module.href}'); })`;
  return new Worker(code, { ...options, eval: true, workerData });
}
