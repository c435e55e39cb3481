/** Two workflows take a hook of the same token. */
import { writeEvents } from './workflow-world-postgres.mjs';

/** @param version of the library, and its indexes */
export function takeHook(version) {
  return writeEvents({
    ...version,
    runs: ['wrun_alice', 'wrun_bob'],
    event: (session) => ({
      runId: `wrun_${session}`,
      eventType: 'hook_created',
      specVersion: 2,
      correlationId: `hook_${session}`,
      eventData: { token: 'approval' },
    }),
    invariant: `SELECT count(*)::int FROM workflow.workflow_hooks WHERE token = 'approval'`,
  });
}
