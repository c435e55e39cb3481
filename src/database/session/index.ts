export { openSession, useDatabase } from './open-session.ts';
export type { Prepared, RowStatement } from './prepared.ts';
export { activityOfSession, canceled, terminated } from './session-activity.ts';
export { alreadyOpen, constraintsOutside, localOutside, noneOpen } from './session-notices.ts';
export type { SessionParts } from './session-parts.ts';
export { setModes, setSetting } from './session-settings.ts';
export type { SessionState } from './session-state.ts';
export type { SessionTransaction } from './session-transaction.ts';
export { type AnswerTo, shownRows, type StatementEvent, type StatementWatch } from './statement-event.ts';
