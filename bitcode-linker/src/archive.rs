//! What a link needs of the members of archives.
//!
//! The core library's 16 objects hold some 1,300 functions; most kernels need none of them, and one bounds check needs
//! a few of many objects. So neither whole archives are linked nor whole members, but single definitions:
//!
//! 1. Every member is opened without its functions' bodies, which shows what it defines.
//! 2. What is needed is found out on a scratch module: starting from kernels and from the symbols that are asked for,
//!    the definitions are linked there, which shows what they use in turn, until nothing new comes up.
//! 3. Each member is opened again, and what is needed of it is linked into the module proper, at once.
//!
//! A definition is left out by making it `linkonce_odr`, which a linker moves only where something in the same object
//! uses it. The scratch module may hold copies of a member's private parts, since a member can be linked there more
//! than once; that is why it is thrown away.

use crate::Error;
use crate::inputs::Object;
use crate::session::{Session, globals};
use crate::symbols;
use crate::target::Gpu;
use inkwell::module::{Linkage, Module};
use inkwell::values::GlobalValue;
use std::collections::{HashMap, HashSet};

/// A symbol. LLVM's need not be UTF-8.
pub type Symbol = Vec<u8>;

/// The members of all archives on the command line.
pub struct Members<'s> {
    session: &'s Session,
    gpu: &'s Gpu,
    objects: Vec<Object>,
    /// Which member defines a symbol; the first one where several do.
    definer: HashMap<Symbol, usize>,
    /// The kernels of every member.
    kernels: Vec<(usize, Symbol)>,
}

impl<'s> Members<'s> {
    /// Opens every member.
    pub fn new(session: &'s Session, gpu: &'s Gpu, objects: Vec<Object>) -> Result<Members<'s>, Error> {
        let mut members = Members { session, gpu, objects, definer: HashMap::new(), kernels: Vec::new() };
        for at in 0..members.objects.len() {
            let module = members.open(at)?;
            for global in globals(&module).filter(is_visible_definition) {
                members.definer.entry(symbol(&global)).or_insert(at);
            }
            members.kernels.extend(symbols::kernels(&module).map(|kernel| (at, symbol(&kernel.as_global_value()))));
        }
        Ok(members)
    }

    /// Links into `whole` what it asks for: the definitions of `wanted`, kernels, and what these use in turn.
    pub fn link_needed(&self, whole: &Module<'s>, wanted: HashSet<Symbol>) -> Result<(), Error> {
        let present: HashSet<Symbol> = globals(whole).filter(is_visible_definition).map(|it| symbol(&it)).collect();
        for (at, needed) in self.needed(&present, wanted)?.into_iter().enumerate() {
            if !needed.is_empty() {
                tracing::debug!(member = self.objects[at].name, symbols = needed.len(), "needed");
                self.link(whole, at, &needed)?;
            }
        }
        Ok(())
    }

    /// The symbols needed of every member.
    fn needed(&self, present: &HashSet<Symbol>, wanted: HashSet<Symbol>) -> Result<Vec<HashSet<Symbol>>, Error> {
        let scratch = self.session.context().create_module("scratch");
        self.gpu.claim(&scratch);
        let mut needed = vec![HashSet::new(); self.objects.len()];
        let mut open: Vec<(usize, Symbol)> = self.kernels.clone();
        let mut wanted: Vec<Symbol> = wanted.into_iter().collect();
        loop {
            let defined = |symbol: Symbol| Some((*self.definer.get(&symbol)?, symbol));
            open.extend(wanted.into_iter().filter(|symbol| !present.contains(symbol)).filter_map(defined));
            let mut new = vec![HashSet::new(); self.objects.len()];
            for (at, symbol) in open.drain(..) {
                if needed[at].insert(symbol.clone()) {
                    new[at].insert(symbol);
                }
            }
            if new.iter().all(HashSet::is_empty) {
                return Ok(needed);
            }
            for (at, new) in new.iter().enumerate().filter(|(_, new)| !new.is_empty()) {
                self.link(&scratch, at, new)?;
            }
            wanted = undefined(&scratch);
        }
    }

    /// Links the definitions of some symbols, with what they use in the same member.
    fn link(&self, whole: &Module<'s>, at: usize, symbols: &HashSet<Symbol>) -> Result<(), Error> {
        let module = self.open(at)?;
        for global in globals(&module).filter(is_visible_definition) {
            if !symbols.contains(global.get_name().to_bytes()) {
                leave_out(global);
            }
        }
        let failed = |message| Error::Merge { input: self.objects[at].name.clone(), message };
        self.session.link(whole, module).map_err(failed)
    }

    fn open(&self, at: usize) -> Result<Module<'s>, Error> {
        let object = &self.objects[at];
        let damaged = |message| Error::Parse { input: object.name.clone(), message };
        let module = self.session.open(&object.bitcode, &object.name).map_err(damaged)?;
        self.gpu.check_made_for(&module, &object.name)?;
        Ok(module)
    }
}

fn leave_out(global: GlobalValue<'_>) {
    match global.get_linkage() {
        Linkage::External | Linkage::WeakODR => global.set_linkage(Linkage::LinkOnceODR),
        Linkage::WeakAny => global.set_linkage(Linkage::LinkOnceAny),
        _ => {}
    }
}

/// The symbols that a module uses and does not define. What is used weakly can do without a definition.
pub fn undefined(module: &Module<'_>) -> Vec<Symbol> {
    let is_open = |global: &GlobalValue<'_>| global.is_declaration() && global.get_linkage() == Linkage::External;
    globals(module).filter(is_open).map(|global| symbol(&global)).collect()
}

fn is_visible_definition(global: &GlobalValue<'_>) -> bool {
    let hidden = [Linkage::Internal, Linkage::Private, Linkage::AvailableExternally, Linkage::Appending];
    !global.is_declaration() && !hidden.contains(&global.get_linkage())
}

fn symbol(global: &GlobalValue<'_>) -> Symbol {
    global.get_name().to_bytes().to_vec()
}
