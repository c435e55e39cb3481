/** Two workers replay the same workflow, and each creates its next step. Every replay gives it the same identifier. */
import { writeEvents } from './workflow-world-postgres.mjs';

/** @param version of the library, and its indexes */
export function createStep(version) {
  return writeEvents({
    ...version,
    runs: ['wrun_1'],
    event: () => ({
      runId: 'wrun_1',
      eventType: 'step_created',
      specVersion: 2,
      correlationId: 'step_1',
      eventData: { stepName: 'charge', input: new Uint8Array() },
    }),
    invariant: `SELECT count(*)::int FROM workflow.workflow_events WHERE type = 'step_created'`,
  });
}
