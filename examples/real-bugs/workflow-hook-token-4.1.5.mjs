import { createClient } from './node_modules/workflow-world-postgres-4.1.5/dist/drizzle/index.js';
import { createEventsStorage } from './node_modules/workflow-world-postgres-4.1.5/dist/storage.js';
import { takeHook } from './workflow-hook-token.mjs';
import { uniqueEvents } from './workflow-world-postgres.mjs';

export default takeHook({ library: { createClient, createEventsStorage }, indexes: uniqueEvents });
