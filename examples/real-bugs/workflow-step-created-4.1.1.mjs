import { createClient } from './node_modules/workflow-world-postgres-4.1.1/dist/drizzle/index.js';
import { createEventsStorage } from './node_modules/workflow-world-postgres-4.1.1/dist/storage.js';
import { createStep } from './workflow-step-created.mjs';

export default createStep({ library: { createClient, createEventsStorage } });
