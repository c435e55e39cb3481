/** A thread of `moirai check --jobs`. What is no bad input ends the thread with its error. */
import { parentPort, workerData } from 'node:worker_threads';
import { checkFile, type HistoryPath } from './check-file.ts';
import type { CheckAnswer, CheckWorkerData } from './check-threads.ts';
import { listFolder, openInput } from '../files/input-files.ts';

const { options, columns, env } = workerData as CheckWorkerData;
const send = (answer: CheckAnswer): void => parentPort?.postMessage(answer, []);
const host = { openInput, listFolder, columns, env, err: (text: string) => send({ kind: 'message', text }) };

parentPort?.on('message', (path: HistoryPath) => {
  const checking = checkFile(path, options, host, (soFar) => send({ kind: 'so-far', checked: soFar() }));
  void checking.then((checked) => send({ kind: 'done', checked }));
});
