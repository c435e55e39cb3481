CREATE TABLE documents (id int PRIMARY KEY, body text NOT NULL, version int NOT NULL);
