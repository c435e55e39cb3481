import { createClient } from './node_modules/workflow-world-postgres-4.1.5/dist/drizzle/index.js';
import { createEventsStorage } from './node_modules/workflow-world-postgres-4.1.5/dist/storage.js';
import { createStep } from './workflow-step-created.mjs';
import { uniqueEvents } from './workflow-world-postgres.mjs';

export default createStep({ library: { createClient, createEventsStorage }, indexes: uniqueEvents });
