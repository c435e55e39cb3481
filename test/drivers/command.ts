/** A program of another process that talks to the server of this one: its input is written bit by bit, its output collected. */
import { type ChildProcess, spawn } from 'node:child_process';

export class Command {
  readonly #child: ChildProcess;
  #output = '';
  /** What it wrote, errors in their places, when it has ended. */
  readonly ended: Promise<string>;

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const both = ['-c', 'exec "$@" 2>&1', 'sh', program, ...args];
    this.#child = spawn('sh', both, { stdio: 'pipe', env: { ...process.env, ...env } });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', () => resolve(this.#output));
    });
  }

  /** Waits until it has written `text`, or has ended. @returns has it? */
  async hasWritten(text: string): Promise<boolean> {
    const written = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#output.includes(text)) resolve();
      };
      this.#child.stdout?.on('data', look);
      look();
    });
    await Promise.race([written, this.ended]);
    return this.#output.includes(text);
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  end(text = ''): Promise<string> {
    this.#child.stdin?.end(text);
    return this.ended;
  }
}
