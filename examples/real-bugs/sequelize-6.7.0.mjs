import sequelize from 'sequelize-6.7.0';
import { findCreateFind } from './sequelize-find-create-find.mjs';

export default findCreateFind(sequelize);
