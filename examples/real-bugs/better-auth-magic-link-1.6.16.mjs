import { betterAuth } from 'better-auth-1.6.16';
import { magicLink as plugin } from 'better-auth-1.6.16/plugins/magic-link';
import { magicLink } from './better-auth-magic-link.mjs';

export default magicLink({ betterAuth, magicLink: plugin });
