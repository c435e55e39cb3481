import { Agenda } from 'agenda';
import { PostgresBackend } from 'agenda-postgres-backend-3.0.6';
import { scheduleUnique } from './agenda-unique.mjs';

export default scheduleUnique({ Agenda, PostgresBackend });
