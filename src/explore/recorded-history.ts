/** A history as a replay compares it. */
import type { History } from '../history/index.ts';
import { type RecordedRun, shapeOfKeys, stepsOfHistory } from '../program/index.ts';

/** The choices of its token are names of transactions, which mean the same at every level. */
export function recordedHistory(history: History): RecordedRun {
  return { shape: shapeOfKeys(history, null), steps: stepsOfHistory(history) };
}
