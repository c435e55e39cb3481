/** A thread of `moirai analyze --jobs`. */
import { workerData } from 'node:worker_threads';
import { exploringJobs } from '../../analyze/index.ts';
import { answerJobs } from '../threads/answer-jobs.ts';
import { interruptionOf } from '../threads/shared-interruption.ts';
import type { WitnessWorkerData } from './witness-threads.ts';

const { interrupted } = workerData as WitnessWorkerData;

answerJobs(Promise.resolve(exploringJobs(interruptionOf(interrupted))));
