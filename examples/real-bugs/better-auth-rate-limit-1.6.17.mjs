import { betterAuth } from 'better-auth-1.6.17';
import { rateLimit } from './better-auth-rate-limit.mjs';

export default rateLimit(betterAuth);
