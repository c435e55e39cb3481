import type ts from 'typescript';
import type { Machine } from './machine.ts';
import { TooLarge } from './step-limit.ts';

/** What takes more steps than a unit may, or calls deeper than the stack of the reader, is listed. */
export function withinLimits(machine: Machine, at: ts.Node, body: () => void): void {
  try {
    body();
  } catch (error) {
    if (error instanceof TooLarge) machine.notUnderstood(at, error.message);
    else throw error;
  }
}
