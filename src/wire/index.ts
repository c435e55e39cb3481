export { WireError } from './wire-error.ts';
