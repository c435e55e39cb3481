/** A program that never used the store that it was given is at fault, and no verdict is said. */
import { InputError } from '../base/index.ts';
import { conclude, type Evidence } from '../evidence/index.ts';
import type { Replayed } from './recorded-run.ts';

interface Looked {
  readonly evidence: Evidence;
  readonly replayed: Replayed | null;
}

/** @throws InputError `program/store-unused`; not of a replay, which says nothing of other runs */
export function requireUsed({ evidence, replayed }: Looked): void {
  const conclusion = conclude(evidence);
  if (conclusion.kind === 'at-fault' && replayed === null) throw new InputError(conclusion.code, conclusion.message);
}
