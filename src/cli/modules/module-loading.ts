/** A user's module while it loads: it may compute for ever, or await what never comes. Every command that loads one waits for it this way. */
import type { Host, Ending, EndReason, Watch } from '../host.ts';

/** A small timeout is meant for runs: loading a module takes its time on a busy machine. */
const loadMsMin = 5_000;

/** What code may take beyond its time before it counts as one that will never give the thread back. */
export const graceMs = 2_000;

export interface LoadOptions {
  readonly timeoutMs: number;
  readonly json: boolean;
}

export class ModuleLoading {
  readonly #file: string;
  readonly #isJson: boolean;
  readonly #loadMs: number;
  readonly #interruption: AbortSignal;

  constructor(file: string, { timeoutMs, json }: LoadOptions, { interruption }: Pick<Host, 'interruption'>) {
    this.#file = file;
    this.#isJson = json;
    this.#loadMs = Math.max(timeoutMs, loadMsMin);
    this.#interruption = interruption;
  }

  /** When the thread is given up. */
  get limitMs(): number {
    return this.#loadMs + graceMs;
  }

  /** `null`: not in time, or the user had enough before. The timer also keeps the process from ending while a module waits for what never comes. */
  async finish<T>(load: () => Promise<T>, watch: Watch): Promise<T | null> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), this.#loadMs);
      this.#interruption.addEventListener('abort', () => resolve(null));
    });
    try {
      const loaded = await Promise.race([load(), timeout]);
      await watch.ready;
      return loaded;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What is said where it does not load. */
  ending(reason: EndReason): Ending {
    const why = reason === 'interrupted' ? 'interrupted before the module was loaded' : this.#lateText();
    const json = { file: this.#file, verdict: 'unknown', gaps: [why], assumed: [] };
    return { out: this.#isJson ? `${JSON.stringify(json)}\n` : '', err: `${this.#file}: ${why}\n`, code: 2 };
  }

  /** Of a module that did not load in time, or that was interrupted. */
  get late(): Ending {
    return this.ending(this.#interruption.aborted ? 'interrupted' : 'stuck');
  }

  #lateText(): string {
    return `the module did not load within ${this.#loadMs / 1_000} s`;
  }
}

/** The default export of a module for which only its loading has a limit; what is said where there is none. @throws InputError `program/...` */
export async function loadDefaultInTime(
  file: string,
  made: string,
  options: LoadOptions,
  host: Host,
): Promise<{ readonly found: unknown } | { readonly ending: Ending }> {
  const loading = new ModuleLoading(file, options, host);
  const watch = host.watch(loading.limitMs, (reason) => loading.ending(reason));
  try {
    const loaded = await loading.finish(async () => ({ found: await host.loadDefault(file, made) }), watch);
    return loaded ?? { ending: loading.late };
  } finally {
    // Before the ending is printed: else the watchdog may print it as well.
    watch.stop();
  }
}
