import t from "tap";
t.pass("the first test");
