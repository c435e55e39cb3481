/**
 * The built command line, one command after the other in one process: its own start is most of what a small command costs. For commands that end by
 * themselves and leave nothing under way: no signals, threads that are ended, `process.exit` or errors that nothing catches.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Ended, plainEnvironment } from './cli.ts';

export class CommandProcess {
  #process: ChildProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  /** After the commands before it. @throws what the process said when it ended instead */
  run(args: readonly string[], cwd: string): Promise<Ended> {
    const ended = this.#last.then(() => this.#send({ args, cwd }));
    this.#last = ended.catch(() => {});
    return ended;
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    // A command may have left a listener for SIGTERM.
    child.kill('SIGKILL');
    await exit;
  }

  async #send(command: { readonly args: readonly string[]; readonly cwd: string }): Promise<Ended> {
    this.#process ??= fork(fileURLToPath(new URL('command-process.mjs', import.meta.url)), {
      env: { ...plainEnvironment(), ...this.#env },
      execArgv: [],
    });
    const child = this.#process;
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => {
        this.#process = null;
        reject(new Error(`${command.args.join(' ')}: the process of all commands ended with ${code}`));
      };
      child.once('exit', onExit);
      child.once('message', (answer: Ended) => {
        child.off('exit', onExit);
        resolve(answer);
      });
      child.send(command);
    });
  }
}
