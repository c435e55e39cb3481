import { DBOSClient } from 'dbos-4.22.6';
import { applySchedules } from './dbos-apply-schedules.mjs';

export default applySchedules(DBOSClient);
