/** Which recorded transactions are about rows at all: `SELECT 1` and what drivers ask the catalog are not. */
import type { Step } from '../application.ts';
import type { Schema } from '../schema.ts';
import { accessesOf } from '../statement-accesses.ts';

/** Does any statement name rows of a table, or is it not understood? */
export function isOfRows(steps: readonly Step[], schema: Schema): boolean {
  return steps.some((step) => {
    switch (step.kind) {
      case 'statement': {
        const found = accessesOf(step, schema);
        return found.kind === 'not-understood' || found.moments.some((accesses) => accesses.length > 0);
      }
      case 'branch':
        return isOfRows([...step.ifTrue, ...step.ifFalse], schema);
      case 'loop':
        return isOfRows(step.steps, schema);
      default:
        return false;
    }
  });
}
