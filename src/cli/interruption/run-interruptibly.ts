/** Commands that read and judge end with what they have when the user has had enough, wherever they are. */
import type { ExitCode, Host, Ending } from '../host.ts';
import { printEnding } from '../modules/user-program.ts';

/**
 * @param soFar what is known at any moment: the watchdog asks for it in the middle of work that does not give the thread back; `null`: the work
 *   hears of the interruption itself
 * @param work with a host that prints nothing once the interruption is answered
 * @param graceMs time in which the work may still end by itself
 */
export async function runInterruptibly(
  host: Host,
  soFar: () => Ending | null,
  work: (host: Host) => Promise<ExitCode>,
  { graceMs = 0 }: { readonly graceMs?: number } = {},
): Promise<ExitCode> {
  const { interruption } = host;
  const watch = host.watch(Infinity, soFar);
  let isAnswered = false;
  const unlessAnswered =
    (print: (text: string) => void): ((text: string) => void) =>
    (text) => {
      if (!isAnswered) print(text);
    };
  const quiet: Host = { ...host, out: unlessAnswered(host.out), err: unlessAnswered(host.err) };
  let timer: NodeJS.Timeout | undefined;
  let onInterruption = (): void => {};
  const interrupted = new Promise<'interrupted'>((resolve) => {
    onInterruption = () => {
      timer = setTimeout(() => resolve('interrupted'), graceMs);
    };
    interruption.addEventListener('abort', onInterruption, { once: true });
  });
  try {
    await watch.ready;
    const working = work(quiet);
    const first = await Promise.race([working, interrupted]);
    if (first !== 'interrupted') return first;
    const ending = soFar();
    if (ending === null) return await working;
    isAnswered = true;
    // Before it is printed: else the watchdog may print it as well.
    watch.stop();
    return printEnding(ending, host);
  } finally {
    clearTimeout(timer);
    interruption.removeEventListener('abort', onInterruption);
    watch.stop();
  }
}
