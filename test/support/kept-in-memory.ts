/** Where failing runs are kept, without a file system. */
import type { FailureFolder } from '../../src/cli/failures/failure-folder.ts';

/** A folder in memory, in the order in which files were written. */
export class KeptInMemory implements FailureFolder {
  readonly path = 'kept';
  readonly files = new Map<string, string>();
  readonly list = async (): Promise<string[]> => [...this.files.keys()];
  readonly read = async (name: string): Promise<string> => this.files.get(name) ?? '';
  readonly write = async (name: string, text: string): Promise<void> => {
    this.files.delete(name);
    this.files.set(name, text);
  };
  readonly remove = async (name: string): Promise<void> => void this.files.delete(name);

  /** What commands find of it. */
  inputs(): Record<string, string> {
    return Object.fromEntries([...this.files].map(([name, text]) => [`${this.path}/${name}`, text]));
  }

  get only(): string {
    const [name, ...others] = this.files.keys();
    if (name === undefined || others.length > 0) throw new Error(`${this.files.size} failures are kept`);
    return `${this.path}/${name}`;
  }
}
