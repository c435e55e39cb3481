/** What a DDL statement has changed so far, and how to undo it. */
import type { Undo } from '../catalog/catalog.ts';
import type { Notice } from '../session.ts';

export class Changes {
  readonly notices: Notice[] = [];
  readonly #undos: Undo[] = [];

  did(undo: Undo): void {
    this.#undos.push(undo);
  }

  notice(code: string, message: string): void {
    this.notices.push({ severity: 'NOTICE', code, message });
  }

  readonly undo = (): void => {
    for (let undo = this.#undos.pop(); undo !== undefined; undo = this.#undos.pop()) undo();
  };
}
