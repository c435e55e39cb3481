import { DBOSClient } from 'dbos-4.21.6';
import { applySchedules } from './dbos-apply-schedules.mjs';

export default applySchedules(DBOSClient);
