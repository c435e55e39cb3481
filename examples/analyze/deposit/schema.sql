CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
