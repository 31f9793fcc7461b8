//! Which constant a call's argument is.
//!
//! The macros write literals, but without MIR optimizations a literal reaches the call through temporaries: `_5 = const
//! "…"; _4 = &(*_5); call(move _4)`. A local that is assigned once and never lent out mutably is followed to its
//! constant; anything else is no constant.

use rustc_index::IndexVec;
use rustc_middle::mir::visit::{MutatingUseContext, PlaceContext, Visitor};
use rustc_middle::mir::{
    Body, BorrowKind, Const, ConstOperand, ConstValue, Local, Location, Operand, Place, ProjectionElem, Rvalue,
    Statement, StatementKind,
};
use rustc_middle::ty::{self, TyCtxt, TypeVisitableExt, TypingEnv};

/// How many temporaries are followed. The longest chain seen has three; the bound ends a circle in unreachable code.
const LONGEST_CHAIN: usize = 8;

/// The one assignment of each local, where there is one and no other change.
pub struct Assignments {
    of: IndexVec<Local, Assigned>,
}

#[derive(Clone, Copy)]
enum Assigned {
    Never,
    Once(Location),
    OtherwiseToo,
}

impl Assignments {
    /// Looks through `body` once.
    pub fn of(body: &Body<'_>) -> Assignments {
        let mut found = Assignments { of: IndexVec::from_elem(Assigned::Never, &body.local_decls) };
        for argument in body.args_iter() {
            found.of[argument] = Assigned::OtherwiseToo;
        }
        found.visit_body(body);
        found
    }

    /// The constant that `operand` is, through its temporaries.
    pub fn constant<'a, 'tcx>(
        &self,
        body: &'a Body<'tcx>,
        operand: &'a Operand<'tcx>,
    ) -> Option<&'a ConstOperand<'tcx>> {
        let mut at = match operand {
            Operand::Constant(constant) => return Some(constant),
            operand => operand.place()?.as_local()?,
        };
        for _ in 0..LONGEST_CHAIN {
            let Assigned::Once(location) = self.of[at] else { return None };
            let statement = body.basic_blocks[location.block].statements.get(location.statement_index)?;
            let StatementKind::Assign(assignment) = &statement.kind else { return None };
            at = match &assignment.1 {
                Rvalue::Use(Operand::Constant(constant)) => return Some(constant),
                value => same_value(value)?,
            };
        }
        None
    }
}

impl<'tcx> Visitor<'tcx> for Assignments {
    fn visit_statement(&mut self, statement: &Statement<'tcx>, location: Location) {
        // Debug information names locals, and changes none.
        if !matches!(statement.kind, StatementKind::StorageLive(_) | StatementKind::StorageDead(_)) {
            self.super_statement(statement, location);
        }
    }

    fn visit_local(&mut self, local: Local, context: PlaceContext, location: Location) {
        let assigned = &mut self.of[local];
        *assigned = match (&assigned, context) {
            (Assigned::Never, PlaceContext::MutatingUse(MutatingUseContext::Store)) => Assigned::Once(location),
            (_, PlaceContext::MutatingUse(_)) => Assigned::OtherwiseToo,
            _ => return,
        };
    }
}

/// The local whose value a copy, a move or a shared reborrow yields.
fn same_value(value: &Rvalue<'_>) -> Option<Local> {
    match value {
        Rvalue::Use(operand) => operand.place()?.as_local(),
        Rvalue::CopyForDeref(place) => place.as_local(),
        Rvalue::Ref(_, BorrowKind::Shared, place) => behind_one_reference(*place),
        _ => None,
    }
}

fn behind_one_reference(place: Place<'_>) -> Option<Local> {
    match place.projection[..] {
        [ProjectionElem::Deref] => Some(place.local),
        _ => None,
    }
}

/// The text of a string constant. None where it is no string, or depends on generic parameters.
pub fn text<'tcx>(tcx: TyCtxt<'tcx>, constant: &ConstOperand<'tcx>) -> Option<&'tcx str> {
    let is_str = matches!(constant.const_.ty().kind(), ty::Ref(_, target, _) if target.is_str());
    if !is_str {
        return None;
    }
    let value = match constant.const_ {
        Const::Val(value, _) => value,
        generic if generic.has_non_region_param() => return None,
        other => other.eval(tcx, TypingEnv::fully_monomorphized(), constant.span).ok()?,
    };
    // A wide reference is never a scalar, but asking for the bytes of one would end the compiler.
    match value {
        ConstValue::Slice { .. } | ConstValue::Indirect { .. } => {
            std::str::from_utf8(value.try_get_slice_bytes_for_diagnostics(tcx)?).ok()
        }
        ConstValue::Scalar(_) | ConstValue::ZeroSized => None,
    }
}
