//! Everything a build needs that is not part of the checkout.
