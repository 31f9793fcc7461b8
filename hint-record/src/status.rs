//! What became of a hint.

names! {
    /// Was a hint kept?
    pub enum Status {
        /// What came out is what the hint asked for.
        Honoured = "honoured",
        /// It is not; a reason says why.
        Dropped = "dropped",
        /// The function that holds the hint is not in the module.
        NotCompiled = "not_compiled",
        /// Nobody could see in the machine code whether it is; a reason says why.
        Unverified = "unverified",
    }
}
