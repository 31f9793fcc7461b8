//! Names pasted together, as `ph~i` or `ph~i~_tail` in the body of an `unroll!`.
//!
//! `~` is no operator of Rust, so tokens with a paste in them do not parse. `Pastes::hide` puts one identifier in the
//! place of each paste, after which they do; `Pastes::restore` puts the pastes back, with all their spans. A paste is
//! an identifier, followed once or more by `~` and an identifier or a literal.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

/// The first and further parts of a paste, without the `~` between them.
pub type Chain = Vec<TokenTree>;

/// The pastes that have been hidden, by the number in the identifier that stands for each.
#[derive(Debug, Default)]
pub struct Pastes {
    chains: Vec<Chain>,
}

const PREFIX: &str = "__latch_paste_";

impl Pastes {
    /// The tokens with an identifier in the place of each paste.
    pub fn hide(&mut self, tokens: TokenStream) -> TokenStream {
        let mut hidden: Vec<TokenTree> = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let mut chain = vec![token];
            while matches!(chain[0], TokenTree::Ident(_)) && tokens.peek().is_some_and(is_tilde) {
                let mut ahead = tokens.clone();
                let _tilde = ahead.next();
                let Some(part @ (TokenTree::Ident(_) | TokenTree::Literal(_))) = ahead.next() else { break };
                chain.push(part);
                tokens = ahead;
            }
            hidden.push(self.one(chain));
        }
        hidden.into_iter().collect()
    }

    /// What stands for one token, or for the parts of a paste.
    fn one(&mut self, mut chain: Chain) -> TokenTree {
        if chain.len() > 1 {
            return TokenTree::Ident(self.add(chain));
        }
        match chain.remove(0) {
            TokenTree::Group(group) => TokenTree::Group(regrouped(&group, self.hide(group.stream()))),
            token => token,
        }
    }

    /// Hides one paste; the identifier that stands for it has the span of its first part.
    pub fn add(&mut self, chain: Chain) -> Ident {
        let span = chain.first().map_or_else(Span::call_site, TokenTree::span);
        let name = format!("{PREFIX}{}", self.chains.len());
        self.chains.push(chain);
        Ident::new(&name, span)
    }

    /// The paste that an identifier stands for.
    pub fn chain(&self, name: &Ident) -> Option<&Chain> {
        if self.chains.is_empty() {
            return None;
        }
        let number: usize = name.to_string().strip_prefix(PREFIX)?.parse().ok()?;
        self.chains.get(number)
    }

    /// The tokens with every hidden paste written out again.
    pub fn restore(&self, tokens: TokenStream) -> TokenStream {
        if self.chains.is_empty() {
            return tokens;
        }
        tokens.into_iter().flat_map(|token| self.written_out(token)).collect()
    }

    fn written_out(&self, token: TokenTree) -> Vec<TokenTree> {
        match token {
            TokenTree::Ident(name) => match self.chain(&name) {
                Some(chain) => spelled(chain),
                None => vec![TokenTree::Ident(name)],
            },
            TokenTree::Group(group) => vec![TokenTree::Group(regrouped(&group, self.restore(group.stream())))],
            other => vec![other],
        }
    }
}

/// A paste as it is written.
fn spelled(chain: &Chain) -> Vec<TokenTree> {
    let mut tokens = Vec::new();
    for part in chain {
        if !tokens.is_empty() {
            let mut tilde = proc_macro2::Punct::new('~', proc_macro2::Spacing::Alone);
            tilde.set_span(part.span());
            tokens.push(TokenTree::Punct(tilde));
        }
        tokens.push(part.clone());
    }
    tokens
}

fn is_tilde(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '~')
}

/// A group with other tokens inside.
pub fn regrouped(group: &Group, inside: TokenStream) -> Group {
    let mut changed = Group::new(group.delimiter(), inside);
    changed.set_span(group.span());
    changed
}

#[cfg(test)]
mod tests {
    use super::Pastes;
    use proc_macro2::TokenStream;

    fn tokens(source: &str) -> TokenStream {
        source.parse().expect("tokens")
    }

    #[test]
    fn hidden_pastes_parse_and_come_back() {
        let source = tokens("let mut ph ~ i = f (& ph ~ i ~ 2 ~ _tail , [other ; 3]) ; 'a ~ i : loop { }");
        let mut pastes = Pastes::default();
        let hidden = pastes.hide(source.clone());
        assert!(!hidden.to_string().contains('~'), "{hidden}");
        syn::parse::Parser::parse2(syn::Block::parse_within, hidden.clone()).expect("statements");
        assert_eq!(pastes.restore(hidden).to_string(), source.to_string());
    }

    #[test]
    fn what_is_no_paste_stays() {
        for source in ["a ~", "~ a", "3 ~ a", "a ~ (b)", "a ~ ~ b"] {
            let mut pastes = Pastes::default();
            assert_eq!(pastes.hide(tokens(source)).to_string(), tokens(source).to_string());
        }
    }

    #[test]
    fn a_name_that_only_looks_hidden_is_left() {
        let mut pastes = Pastes::default();
        let _one = pastes.hide(tokens("a ~ b"));
        assert_eq!(
            pastes.restore(tokens("__latch_paste_7 __latch_paste_x")).to_string(),
            "__latch_paste_7 __latch_paste_x"
        );
    }
}
