import { betterAuth } from 'better-auth-1.6.17';
import { resetPassword } from './better-auth-reset-password.mjs';

export default resetPassword(betterAuth);
