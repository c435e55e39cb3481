/** What a DDL statement has changed so far, and how to undo it. */
import type { Undo } from '../catalog/catalog.ts';
import type { Notice } from '../session.ts';

/** What the changes are for: to stay, or, in the catalog alone, to find what is wrong with the names, or with the rows too. */
export type Purpose = 'to stay' | 'to check names' | 'to check rows';

export class Changes {
  readonly purpose: Purpose;
  readonly notices: Notice[] = [];
  readonly #undos: Undo[] = [];

  constructor(purpose: Purpose) {
    this.purpose = purpose;
  }

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
