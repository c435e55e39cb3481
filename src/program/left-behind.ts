/**
 * What runs of a program leave behind: promises that were rejected and that nothing awaits, timers and file operations that are still to come, and
 * the calls of sessions that these make.
 */
import { setImmediate, setTimeout } from 'node:timers';
import { monotonicMs, activeResources, onUnhandledRejection, InputError } from '../base/index.ts';
import { errorText } from './invariant.ts';

export class LeftBehind {
  /** What the event loop waits for that is not the program's. */
  #baseline = new Map<string, number>();
  #fault: InputError | null = null;
  #isIgnored = false;
  #hasOpen = false;
  #stop: () => void = () => {};

  begin(): void {
    this.#baseline = activeResources();
    this.#stop();
    this.#stop = onUnhandledRejection((reason) => {
      if (!this.#isIgnored) this.#fault ??= rejected(reason);
    });
  }

  end(): void {
    this.#stop();
  }

  /** A session was called after its run. */
  readonly lateCall = (fault: InputError): void => {
    this.#fault ??= fault;
  };

  /** @throws InputError `program/uncaught` where a rejection has come so far, or the fault of a late call */
  requireNone(): void {
    if (this.#fault !== null) throw this.#fault;
  }

  /** Rejections of what has run so far come. @throws InputError as `requireNone` */
  async settle(): Promise<void> {
    for (let i = 0; i < TURNS; i += 1) await turn();
    this.requireNone();
  }

  /** Timers and file operations come, within a bound. @throws InputError as `requireNone` */
  async drain(): Promise<void> {
    await this.settle();
    const end = monotonicMs() + OPEN_MS;
    while (!this.#hasOpen && this.#isOpen()) {
      if (monotonicMs() > end) this.#hasOpen = true;
      await pause();
    }
    await this.settle();
  }

  /** Of what runs here, rejections say nothing of the program. */
  async ignoring(run: () => Promise<void>): Promise<void> {
    this.#isIgnored = true;
    try {
      await run();
      await this.drain();
    } finally {
      this.#isIgnored = false;
    }
  }

  /** What a verdict takes for granted, as clauses. */
  assumed(): string[] {
    return this.#hasOpen ? [openText] : [];
  }

  #isOpen(): boolean {
    return [...activeResources()].some(
      ([kind, count]) => (kind === 'Timeout' || kind.startsWith('FSReq')) && count > (this.#baseline.get(kind) ?? 0),
    );
  }
}

/** Node reports a rejection after the microtasks of its turn. */
const TURNS = 3;

/** How long what is open is waited for. */
const OPEN_MS = 500;

/** How often it is looked whether it has come. */
const PAUSE_MS = 2;

const openText = `what the program leaves open for more than ${OPEN_MS} ms (a timer, a file) changes nothing`;

/** A turn later, so that its own timer is none that is open. */
async function pause(): Promise<void> {
  await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE_MS));
  await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function rejected(reason: unknown): InputError {
  const text = `a promise was rejected and nothing awaits it: ${errorText(reason)}`;
  const fault = new InputError('program/uncaught', text);
  fault.cause = reason;
  return fault;
}
