//! Texts that are read: what the reference reads, what was printed, and what is wrong.
mod faults;
mod goldens;
mod hostile;
mod properties;
mod rebuilt;
