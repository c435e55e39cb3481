/** Per session, in one run: its operations, and whether there was a choice between its next step and that of another session. */
import type { SessionRun } from '../program/index.ts';
import { type ExploredLog, hasLostWrites } from './explored-log.ts';

export class SessionActivity {
  readonly #operations: number[];
  readonly #overlapped: boolean[];

  constructor(sessions: number) {
    this.#operations = Array.from({ length: sessions }, () => 0);
    this.#overlapped = Array.from({ length: sessions }, () => false);
  }

  reset(): void {
    this.#operations.fill(0);
    this.#overlapped.fill(false);
  }

  countOperation(session: number): void {
    this.#operations[session] = (this.#operations[session] as number) + 1;
  }

  /** Each of them may go next. */
  noteWaiting(sessions: readonly number[]): void {
    if (sessions.length > 1) for (const session of sessions) this.#overlapped[session] = true;
  }

  /** A read that may see or not see the write of another session is a choice between the steps of the two. */
  noteOverlap(session: number, other: number): void {
    if (other === session) return;
    this.#overlapped[session] = true;
    this.#overlapped[other] = true;
  }

  runs(logs: readonly ExploredLog[]): SessionRun[] {
    return this.#operations.map((operations, session) => ({
      operations,
      overlapped: this.#overlapped[session] as boolean,
      failure: null,
      loss: hasLostWrites(logs, session) ? 'rolled-back' : null,
    }));
  }
}
