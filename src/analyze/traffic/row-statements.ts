/** Which recorded transactions are about rows at all: `SELECT 1` and what drivers ask the catalog are not. */
import type { Catalog } from '../../sql/index.ts';
import type { Step } from '../application.ts';
import { accessesOf } from '../statement-accesses.ts';

/** Does any statement name rows of a table, or is it not understood? */
export function isOfRows(steps: readonly Step[], catalog: Catalog): boolean {
  return steps.some((step) => {
    switch (step.kind) {
      case 'statement': {
        const found = accessesOf(step, catalog);
        return found.kind === 'not-understood' || found.moments.some((accesses) => accesses.length > 0);
      }
      case 'branch':
        return isOfRows([...step.ifTrue, ...step.ifFalse], catalog);
      case 'loop':
        return isOfRows(step.steps, catalog);
      default:
        return false;
    }
  });
}
